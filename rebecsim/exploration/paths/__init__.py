"""Paths through a model, step by step: shown to people, saved in files and replayed."""
