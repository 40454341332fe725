"""Compiled code: the loops that simulate and explore."""
