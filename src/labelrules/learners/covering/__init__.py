"""Multi-label separate-and-conquer."""
