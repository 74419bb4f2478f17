"""Commands of this room, one module each."""
