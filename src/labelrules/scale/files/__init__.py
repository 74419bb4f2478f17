"""Rows in files, and in memory part by part."""
