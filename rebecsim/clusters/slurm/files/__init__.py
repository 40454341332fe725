"""Readers of the files that a site with Slurm has: configuration, accounts, reservations, logs."""
