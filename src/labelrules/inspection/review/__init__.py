"""Checks of a list of rules: findings, coverage, the flow of rows, alternatives."""
