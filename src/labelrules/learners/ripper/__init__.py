"""RIPPER."""
