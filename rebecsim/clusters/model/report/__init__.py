"""Sections of reports for the kind `model`."""
