"""Rules that vote."""
