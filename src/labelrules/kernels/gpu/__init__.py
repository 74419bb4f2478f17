"""Counting and applying rules on a GPU by CUDA, through CuPy; see ../README.md for the encodings."""
