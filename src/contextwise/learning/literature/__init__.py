"""Learners of the literature, as their papers define them."""
