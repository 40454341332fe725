"""Slurm: what the controller of a cluster starts when, and why jobs wait."""
