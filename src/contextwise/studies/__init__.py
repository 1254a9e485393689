"""Studies that take a while: a store that survives a crash, and the paper's experiment on it."""
