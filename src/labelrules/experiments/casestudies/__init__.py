"""The chapter's two case studies repeated: models, tests, times, and a report beside the text."""
