"""Rows in partitions, which are read as often as needed."""
