"""Rows of observed states from files, frames and arrays."""
