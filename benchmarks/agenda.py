"""Messages per second of rings of rebecs, of which some have a ball under way.

    python benchmarks/agenda.py [--messages 100000] [--times 5]

Every ball is passed on to the next rebec once in a time unit. The figures should not depend on how
many rebecs there are, nor on how many of them are due at one time. Where SimPy is installed, two of
its processes that pass a ball through stores are timed in the same run. Processor seconds without
making the rebecs; the best of `--times`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

from rebecsim.actors import (
    FifoScheduler,
    Instance,
    Model,
    RandomScheduler,
    Rebec,
    Scheduler,
    Streams,
    known_rebec,
    message_server,
)
from rebecsim.simulation import simulate

RINGS = ((2, 1), (2, 2), (100, 1), (100, 20), (10_000, 100), (10_000, 2_000))
"""Rebecs, and balls under way."""

SCHEDULERS: dict[str, Callable[[], Scheduler]] = {
    "FIFO": FifoScheduler,
    "random": lambda: RandomScheduler(Streams((1, 2), 0)),
}


class Player(Rebec, queue_size=10_000):
    """Passes on every ball that it gets."""

    following: Player = known_rebec()

    def __init__(self, has_ball: bool) -> None:
        if has_ball:
            self.ball(after=1)

    @message_server
    def ball(self) -> None:
        """Pass it on."""
        self.following.ball(after=1)


def ring(players: int, balls: int) -> Model:
    """Make a ring with the balls spread evenly."""
    apart = players // balls
    return Model(
        "ring",
        tuple(
            Instance(
                f"player{number}",
                Player,
                (f"player{(number + 1) % players}",),
                (number % apart == 0 and number // apart < balls,),
            )
            for number in range(players)
        ),
    )


def seconds(model: Model, scheduler: Callable[[], Scheduler], messages: int, times: int) -> float:
    """Give the processor seconds for so many messages, the best of several times."""

    def run(most: int) -> float:
        begin = time.process_time()
        simulate(model, scheduler(), max_steps=most)
        return time.process_time() - begin

    return min(run(messages) for _ in range(times)) - min(run(0) for _ in range(times))


def simpy_seconds(messages: int, times: int) -> float | None:
    """Give the same for two processes of SimPy; None where it is not installed."""
    try:
        import simpy  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return None

    def run() -> float:
        environment = simpy.Environment()
        stores = simpy.Store(environment), simpy.Store(environment)

        def player(own, other):  # type: ignore[no-untyped-def]
            while True:
                ball = yield own.get()
                yield environment.timeout(1)
                other.put(ball)

        environment.process(player(*stores))
        environment.process(player(*reversed(stores)))
        stores[0].put("ball")
        begin = time.process_time()
        environment.run(until=messages)
        return time.process_time() - begin

    return min(run() for _ in range(times))


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--times", type=int, default=5)
    arguments = parser.parse_args()
    for players, balls in RINGS:
        model = ring(players, balls)
        for name, scheduler in SCHEDULERS.items():
            taken = seconds(model, scheduler, arguments.messages, arguments.times)
            rate = arguments.messages / taken / 1e6
            print(
                f"{players:6,} rebecs {balls:6,} due  {name:6} {rate:5.2f} M messages/s", flush=True
            )
    taken_by_simpy = simpy_seconds(arguments.messages, arguments.times)
    if taken_by_simpy is not None:
        rate = arguments.messages / taken_by_simpy / 1e6
        print(f"     2 processes of SimPy      {rate:5.2f} M messages/s")


if __name__ == "__main__":
    main()
