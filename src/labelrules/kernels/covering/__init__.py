"""Kernels of separate-and-conquer: refine a body, grow it, merge labels into a head."""
