"""The search in compiled code: its tables, and how it takes over from Python."""
