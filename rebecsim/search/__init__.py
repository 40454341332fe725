"""Search the cells of a scenario for the best one, and find which parameters matter.

`tuning` gives the runs to the better candidates and says which are left; `sensitivity` shares the
variance of a figure among parameters. Both see a scenario as `space` does: candidates are
combinations of values, each with the cells that its figure is pooled over.
"""
