"""The smallest change of a row that changes a label."""
