"""From data to structures; random structures and structures with wanted errors."""
