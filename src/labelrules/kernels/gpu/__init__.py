"""Counting and applying rules on a GPU by CUDA and CuPy; encodings are in ../README.md."""
