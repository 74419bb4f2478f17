"""LIST: what is so in the data, found rather than covered."""
