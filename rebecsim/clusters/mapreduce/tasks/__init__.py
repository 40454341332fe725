"""Attempts of tasks: their steps and their fates."""
