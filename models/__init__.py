"""Models to read, run and teach with, and the built-in scenarios; data only, no Python names."""

__all__: list[str] = []
