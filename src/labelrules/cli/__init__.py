"""SPEAK: the command line. A command imports the library when it runs, not for its help."""

from labelrules.cli.app import main

__all__ = ["main"]
