"""What the code of a model can see and keep: read from its functions, without running them."""
