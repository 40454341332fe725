"""Checking a syntax tree: names, types, constants and the rules of the dialect."""
