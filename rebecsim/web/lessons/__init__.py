"""Lessons about the teaching models, and the guided tour to a race; their texts are in TOML."""
