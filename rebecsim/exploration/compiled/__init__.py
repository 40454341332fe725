"""The search in compiled code: the tables that feed it, and what takes it over from Python."""
