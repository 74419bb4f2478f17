"""Counting and applying rules on a GPU by CUDA, through CuPy; ../README.md has the encodings."""
