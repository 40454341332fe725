"""Drawings of models, runs and state spaces, and state spaces for other tools."""
