"""Theories in the terminal, as tables, HTML, LaTeX, Markdown and data frames."""
