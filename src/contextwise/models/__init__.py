"""What a model is: variables, features as arrays, structures with or without weights."""
