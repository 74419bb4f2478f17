"""SPEAK in the browser: a workbench to read rules, change them, and learn the rest again."""
