"""Classifiers made of association rules."""
