"""The Fair Scheduler of Hadoop 1: pools with minimum shares and weights."""
