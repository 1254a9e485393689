"""Rows of observed states, and the bundled data sets."""
