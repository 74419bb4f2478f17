"""Data sets as plain tables: CSV and Parquet."""

from labelrules.data.tables.csv_read import read_csv
from labelrules.data.tables.csv_write import write_csv
from labelrules.data.tables.parquet import read_parquet, write_parquet

__all__ = ["read_csv", "read_parquet", "write_csv", "write_parquet"]
