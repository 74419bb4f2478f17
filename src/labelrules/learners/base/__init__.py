"""What the learners share."""
