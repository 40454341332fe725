"""Queues of customers beside SimPy and Ciw: processor time, and what comes out, in one process.

M/M/1: customers come every 1,000 time units on average and are served for 800, in 100 runs to time
1,000,000. Two servers one after the other, of 600 and 700 units, in 10 runs. Each program runs in
turn, several times; the least processor time is shown. Install them first:
`pip install simpy ciw`; what is not there is left out.
"""

from __future__ import annotations

import argparse
import importlib
import random
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import rebecsim as rs
from rebecsim import lib

UNTIL = 1_000_000
WARM_UP = UNTIL // 10


class Customers(lib.Source):
    """One every 1,000 units."""

    gap = rs.exponential(1000)


class Counter(lib.Server):
    """Serves one for 800 units."""

    service = rs.exponential(800)


class First(lib.Stage):
    """Serves one for 600 units and sends it on."""

    service = rs.exponential(600)


class Second(lib.Server):
    """Serves one for 700 units."""

    service = rs.exponential(700)


SERVED: dict[str, tuple[int, tuple[int, ...]]] = {
    "M/M/1": (100, (800,)),
    "tandem": (10, (600, 700)),
}
"""The runs of each model, and the mean service times of its servers."""


def ours(runs: int, services: Sequence[int]) -> float:
    """Give the mean wait at the last server."""
    last = Counter if len(services) == 1 else Second
    rebecs = [rs.Instance("last", last)]
    if len(services) > 1:
        rebecs.append(rs.Instance("first", First, knows=["last"]))
    rebecs.append(rs.Instance("source", Customers, knows=[rebecs[-1].name]))
    model = rs.Model("queue", rebecs)
    found = rs.measure(model, "last", runs=runs, until=UNTIL, warm_up=WARM_UP)
    return found["last"]["wait"].value


def simpy_wait(runs: int, services: Sequence[int]) -> float:
    """The same in SimPy: a process for each customer."""
    simpy: Any = importlib.import_module("simpy")

    def run(seed: int) -> float:
        drawn, env, waits = random.Random(seed), simpy.Environment(), []
        desks = [simpy.Resource(env, 1) for _ in services]

        def customer() -> Any:
            for desk, service in zip(desks, services, strict=True):
                came = env.now
                with desk.request() as turn:
                    yield turn
                    if desk is desks[-1] and env.now >= WARM_UP:
                        waits.append(env.now - came)
                    yield env.timeout(drawn.expovariate(1 / service))

        def source() -> Any:
            while True:
                yield env.timeout(drawn.expovariate(1 / 1000))
                env.process(customer())

        env.process(source())
        env.run(UNTIL)
        return statistics.fmean(waits)

    return statistics.fmean(map(run, range(runs)))


def ciw_wait(runs: int, services: Sequence[int]) -> float:
    """The same in Ciw."""
    ciw: Any = importlib.import_module("ciw")
    nodes = len(services)
    network = ciw.create_network(
        arrival_distributions=[ciw.dists.Exponential(1 / 1000), *[None] * (nodes - 1)],
        service_distributions=[ciw.dists.Exponential(1 / each) for each in services],
        number_of_servers=[1] * nodes,
        routing=[[float(to == at + 1) for to in range(nodes)] for at in range(nodes)],
    )

    def run(seed: int) -> float:
        ciw.seed(seed)
        simulation = ciw.Simulation(network)
        simulation.simulate_until_max_time(UNTIL)
        records = simulation.get_all_records()
        waits = (
            each.waiting_time
            for each in records
            if each.node == nodes and each.service_start_date >= WARM_UP
        )
        return statistics.fmean(waits)

    return statistics.fmean(map(run, range(runs)))


def main() -> None:
    """Print a row for each model and program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=3, help="how often each is measured")
    times = parser.parse_args().times
    programs: dict[str, Callable[[int, Sequence[int]], float]] = {
        "rebecsim": ours,
        "simpy": simpy_wait,
        "ciw": ciw_wait,
    }
    for name, (runs, services) in SERVED.items():
        least = dict.fromkeys(programs, float("inf"))
        waits: dict[str, float] = {}
        for _ in range(times):
            for program, function in programs.items():
                begun = time.process_time()
                try:
                    waits[program] = function(runs, services)
                except ModuleNotFoundError:
                    continue
                least[program] = min(least[program], time.process_time() - begun)
        for program, wait in waits.items():
            print(f"{name:8}{program:10}{least[program]:6.2f} s   mean wait {wait:8,.0f}")


if __name__ == "__main__":
    main()
