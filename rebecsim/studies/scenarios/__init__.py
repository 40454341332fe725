"""Scenario files: common fields, reading, and errors."""
