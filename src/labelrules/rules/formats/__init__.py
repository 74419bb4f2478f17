"""Theories as text, HTML, LaTeX, Markdown and data frames."""
