"""Rows in files, on Dask and on a GPU; the core finds it by `labelrules._wings`."""
