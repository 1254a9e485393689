"""Progress, maps over processes and clusters, the store, files, and text of numbers and names."""
