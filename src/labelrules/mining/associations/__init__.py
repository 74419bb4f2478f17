"""Association rules with labels in their heads."""
