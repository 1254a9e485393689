"""What is said about structures with more than one comparison."""
