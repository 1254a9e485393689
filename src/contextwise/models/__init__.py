"""Domains, features as arrays, structures, and log-linear models."""
