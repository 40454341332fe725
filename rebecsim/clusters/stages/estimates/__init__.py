"""Users' estimates of how long tasks run, their errors, and how plans handle these."""
