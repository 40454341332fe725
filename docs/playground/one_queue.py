"""One queue: how long does it grow? Customers come at random, and a clerk serves one at a time."""

import rebecsim as rs
from rebecsim import lib


class Customers(lib.Source):
    """Come 100 time units apart, on average."""

    gap = rs.exponential(100)


class Clerk(lib.Server):
    """Needs 80 time units for each; try `servers = 2`."""

    service = rs.exponential(80)


model = rs.Model(
    "one_queue",
    (rs.Instance("clerk", Clerk), rs.Instance("customers", Customers, knows=["clerk"])),
)
