"""Kernels that mine itemsets and association rules, on packed bits."""
