"""Property files: their tree, what is read of them, and whether they fit a model."""
