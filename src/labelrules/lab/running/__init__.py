"""Experiments: many fits, at the same time, each kept when it is finished."""
