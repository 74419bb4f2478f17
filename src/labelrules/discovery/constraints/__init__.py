"""Constraints between labels: found in data, and used to repair predictions."""
