"""Scorecards: single conditions that give whole points to labels."""
