"""Constraints between labels: found, kept, and repaired."""
