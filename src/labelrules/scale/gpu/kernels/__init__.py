"""Counting and applying rules on a GPU by CUDA and CuPy; see kernels/README.md."""
