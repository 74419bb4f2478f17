"""COUNT: compiled loops over arrays; the only room that imports numba."""
