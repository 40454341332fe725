"""The Jinja2 templates that models are rendered from; data only, no Python names."""

__all__: list[str] = []
