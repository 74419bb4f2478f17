"""Data holds: what a table of features and labels is, and how to come by one."""

from labelrules.data.dataset import Dataset
from labelrules.data.encode import dataset, encode, encode_labels
from labelrules.data.errors import DataError, FileError
from labelrules.data.mulan import read_meka, read_mulan, write_mulan
from labelrules.data.schema import Feature, Schema
from labelrules.data.statistics import Statistics, statistics
from labelrules.data.tables import read_csv, read_parquet, write_csv, write_parquet
from labelrules.data.toy import fetch, load

__all__ = [
    "DataError",
    "Dataset",
    "Feature",
    "FileError",
    "Schema",
    "Statistics",
    "dataset",
    "encode",
    "encode_labels",
    "fetch",
    "load",
    "read_csv",
    "read_meka",
    "read_mulan",
    "read_parquet",
    "statistics",
    "write_csv",
    "write_mulan",
    "write_parquet",
]
