"""Compare structures context by context: confusion matrices, explanations, many models."""
