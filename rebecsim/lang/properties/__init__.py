"""Property files: their tree, reading, and checking against a model."""
