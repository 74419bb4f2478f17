"""Rows that a GPU counts, and rules that it applies."""
