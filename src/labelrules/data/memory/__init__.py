"""Data in memory: arrays, sparse matrices, frames and lists."""
