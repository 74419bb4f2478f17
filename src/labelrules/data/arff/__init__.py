"""ARFF files and the label files that go with them, read and written."""
