"""The best body of a rule: refinements, greedy and beam search, FOIL's gain."""
