"""What a state of a model is, what serving a message makes of it, and which states follow."""
