"""Scenario files: what all have, how they are read, and what is wrong with one."""
