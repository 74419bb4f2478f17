"""Subgroup discovery: groups of rows with exceptional labels."""
