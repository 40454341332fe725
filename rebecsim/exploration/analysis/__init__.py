"""Analyses of the code of a model: what it reads, writes, sends and decides."""
