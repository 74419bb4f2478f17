"""Learners compared over data sets: average ranks, tests, and critical-difference diagrams."""
