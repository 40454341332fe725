"""The compiled loops: the search, simulations, and what they work on."""
