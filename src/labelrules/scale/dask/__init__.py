"""Rows of Dask collections, on one machine or on a cluster."""
