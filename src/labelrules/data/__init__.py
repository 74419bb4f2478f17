"""Data sets in memory and in files: features, labels and their schema."""

from labelrules.data.catalog import fetch, load
from labelrules.data.dataset_statistics import Statistics, statistics
from labelrules.data.errors import ClusterError, DataError, DeviceError, FileError
from labelrules.data.files.csv import read_csv, write_csv
from labelrules.data.files.mulan import read_meka, read_mulan, write_mulan
from labelrules.data.files.parquet import read_parquet, write_parquet
from labelrules.data.fingerprints import fingerprint
from labelrules.data.memory.encoding import dataset, encode, encode_labels
from labelrules.data.memory.labels import split_labels
from labelrules.data.partitions.scanning import scan
from labelrules.data.rows import Partitions
from labelrules.data.schema import Feature, Schema
from labelrules.data.table import Dataset

__all__ = [
    "ClusterError",
    "DataError",
    "Dataset",
    "DeviceError",
    "Feature",
    "FileError",
    "Partitions",
    "Schema",
    "Statistics",
    "dataset",
    "encode",
    "encode_labels",
    "fetch",
    "fingerprint",
    "load",
    "read_csv",
    "read_meka",
    "read_mulan",
    "read_parquet",
    "scan",
    "split_labels",
    "statistics",
    "write_csv",
    "write_mulan",
    "write_parquet",
]
