"""Two structures, context by context: pairs, confusion matrices, explanations, many at once."""
