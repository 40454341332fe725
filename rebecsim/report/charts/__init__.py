"""Charts, in print and in pages."""
