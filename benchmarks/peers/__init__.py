"""Other programs that learn rules or trees, beside the learners of this library."""
