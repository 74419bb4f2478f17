"""Columns cut into bins, and the codes of their values."""
