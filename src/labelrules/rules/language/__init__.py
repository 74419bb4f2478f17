"""The rule language: words, text, parsers."""
