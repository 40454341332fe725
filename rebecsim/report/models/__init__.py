"""Explorations and runs of one model, as text."""
