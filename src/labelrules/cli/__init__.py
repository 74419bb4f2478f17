"""SPEAK: the command line. Heavy things are imported when a command runs, not for its help."""

from labelrules.cli.front import main

__all__ = ["main"]
