"""Failures of nodes, slow tasks, and second attempts."""
