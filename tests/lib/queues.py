"""Queues that formulas are known for."""

from __future__ import annotations

from math import factorial

import rebecsim as rs
from rebecsim import lib

GAP = 1000


class Customers(lib.Source):
    gap = rs.exponential(GAP)


class One(lib.Server):
    service = rs.exponential(700)


class Three(lib.Server):
    service = rs.exponential(2100)
    servers = 3


class Even(lib.Server):
    service = rs.uniform(700, 700)


class Shared(lib.SharingServer):
    service = rs.exponential(500)


class Last(lib.LifoServer):
    service = rs.uniform(500, 500)


class First(lib.Stage):
    service = rs.exponential(600)


def queue(server: type[rs.Rebec]) -> rs.Model:
    return rs.Model(
        "queue", (rs.Instance("s", server), rs.Instance("source", Customers, knows=["s"]))
    )


def tandem() -> rs.Model:
    return rs.Model(
        "tandem",
        (
            rs.Instance("s", One),
            rs.Instance("first", First, knows=["s"]),
            rs.Instance("source", Customers, knows=["first"]),
        ),
    )


def erlang_wait(gap: float, service: float, servers: int) -> float:
    """Give the mean wait in M/M/c (Erlang 1917)."""
    load = service / gap
    busy = load**servers / factorial(servers) * servers / (servers - load)
    waits = busy / (sum(load**each / factorial(each) for each in range(servers)) + busy)
    return waits * service / (servers - load)


WAITS = {
    "M/M/1": (queue(One), "s", erlang_wait(GAP, 700, 1)),
    "M/M/3": (queue(Three), "s", erlang_wait(GAP, 2100, 3)),
    "M/D/1": (queue(Even), "s", erlang_wait(GAP, 700, 1) / 2),  # Pollaczek and Khinchine
    # Of M/M/1 with processor sharing, as many are there as without (Kleinrock 1967).
    "M/M/1-PS": (queue(Shared), "s", erlang_wait(GAP, 500, 1)),
    # With interruptions, the last first: as many as in M/M/1, for any service (Kelly 1979, 3.3).
    "M/D/1-LIFO": (queue(Last), "s", erlang_wait(GAP, 500, 1)),
    "tandem": (tandem(), "s", erlang_wait(GAP, 700, 1)),  # Burke: what leaves is Poisson again
}


def covered(name: str, seeds: range, level: float = 0.95) -> int:
    """Count the seeds with which the interval covers the wait of the formula."""
    model, of, wait = WAITS[name]
    found = (
        rs.measure(model, of, until=2_000_000, runs=10, seed=each, level=level)[of]["wait"]
        for each in seeds
    )
    return sum(each.low <= wait <= each.high for each in found if each.low and each.high)
