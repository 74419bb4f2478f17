"""The best head for a body: one exact search for each family of measures."""
