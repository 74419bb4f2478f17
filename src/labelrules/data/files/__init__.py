"""Data in files: Mulan and MEKA (ARFF), CSV and Parquet."""
