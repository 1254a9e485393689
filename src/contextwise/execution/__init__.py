"""How work is done: progress, maps over processes and clusters, a store that survives a crash."""
