"""The ARFF format."""
