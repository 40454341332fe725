"""Messages per second of rings of rebecs, of which some have a ball under way.

    python benchmarks/agenda.py [--messages 4000] [--slices 40]

Every ball is passed on to the next rebec once in a time unit. The figures should not depend on how
many rebecs there are, nor on how many of them are due at one time. Timed in turn with the rebecs,
slice by slice, are the same ring as a plain loop with a heap, one that does nothing but draw who is
next and pass the ball on, and where SimPy is installed, two of its processes that pass one ball
through stores. Processor seconds without making the rebecs; the best slice of each.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from itertools import islice

from rebecsim.actors import (
    FifoScheduler,
    Instance,
    Model,
    RandomScheduler,
    Rebec,
    Scheduler,
    Streams,
    System,
    agenda_for,
    known_rebec,
    message_server,
    serve,
)
from rebecsim.actors.randomness import ORDER_STREAM
from rebecsim.actors.schedulers import Pick

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


def slices(steps: Iterator[Pick], system: System, messages: int) -> Iterator[float]:
    """Serve so many messages again and again; give the processor seconds of each time."""
    while True:
        begin = time.process_time()
        for rebec, message in islice(steps, messages):
            serve(system, rebec, message)
        yield time.process_time() - begin


def of_rebecs(model: Model, scheduler: Scheduler, messages: int) -> Iterator[float]:
    """Let a ring pass its balls on."""
    system = model.start(scheduler.choose)
    return slices(agenda_for(system, scheduler).steps(), system, messages)


class PlainPlayer:
    """A player without messages and servers: its ball is an entry of a heap."""

    __slots__ = ("following", "run")

    def __init__(self, run: PlainRun) -> None:
        self.run = run
        self.following = self

    def ball(self) -> None:
        """Pass it on."""
        self.run.send(self.following.ball, 1)


class PlainRun:
    """What a script would do: calls in a heap, by their time and their number."""

    def __init__(self, players: int, balls: int) -> None:
        self.now = self.number = 0
        self.heap: list[tuple[int, int, Callable[[], None]]] = []
        all_ = [PlainPlayer(self) for _ in range(players)]
        for number, player in enumerate(all_):
            player.following = all_[(number + 1) % players]
        for number in range(balls):
            self.send(all_[number * (players // balls)].ball, 1)

    def send(self, call: Callable[[], None], after: int) -> None:
        """Put a call into the heap."""
        self.number += 1
        heappush(self.heap, (self.now + after, self.number, call))

    def slices(self, messages: int) -> Iterator[float]:
        """Give the processor seconds of so many calls, again and again."""
        heap = self.heap
        while True:
            begin = time.process_time()
            for _ in range(messages):
                self.now, _, call = heappop(heap)
                call()
            yield time.process_time() - begin


class DrawnPlayer:
    """A player that has nothing but its balls."""

    __slots__ = ("balls", "following", "index")

    def __init__(self, index: int) -> None:
        self.index = index
        self.balls: list[tuple[int, int]] = []
        self.following = self


class DrawnRun:
    """The least that a random order takes: who is due at one time, sorted, of whom one is drawn."""

    def __init__(self, players: int, balls: int) -> None:
        self.all = [DrawnPlayer(number) for number in range(players)]
        for number, player in enumerate(self.all):
            player.following = self.all[(number + 1) % players]
        self.now = self.number = 0
        self.next: list[int] = []
        self.place = Streams((1, 2), 0)[ORDER_STREAM].below
        for number in range(balls):
            self.send(self.all[number * (players // balls)])

    def send(self, player: DrawnPlayer) -> None:
        """Give a player a ball for the next time."""
        self.number += 1
        player.balls.append((self.now + 1, self.number))
        self.next.append(player.index)

    def steps(self) -> Iterator[DrawnPlayer]:
        """Take the balls of players in a random order, time by time."""
        while True:
            due, self.next = sorted(self.next), []
            self.now += 1
            while due:
                player = self.all[due.pop(self.place(len(due)))]
                player.balls.pop()
                yield player

    def slices(self, messages: int) -> Iterator[float]:
        """Give the processor seconds of so many balls, again and again."""
        steps = self.steps()
        while True:
            begin = time.process_time()
            for player in islice(steps, messages):
                self.send(player.following)
            yield time.process_time() - begin


def of_simpy(messages: int) -> Iterator[float]:
    """Let two processes of SimPy pass a ball through stores; nothing where it is not installed."""
    try:
        import simpy  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return
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
    while True:
        begin = time.process_time()
        environment.run(until=environment.now + messages)
        yield time.process_time() - begin


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--messages", type=int, default=4_000, help="of a slice")
    parser.add_argument("--slices", type=int, default=40)
    arguments = parser.parse_args()
    messages = arguments.messages
    print("millions of messages a second, in brackets times the plain loop's microseconds")
    for players, balls in RINGS:
        model = ring(players, balls)
        measured = {
            "plain": PlainRun(players, balls).slices(messages),
            "drawn": DrawnRun(players, balls).slices(messages),
            "SimPy, 2 processes": of_simpy(messages),
            **{name: of_rebecs(model, make(), messages) for name, make in SCHEDULERS.items()},
        }
        best = dict.fromkeys(measured, math.inf)
        for _ in range(arguments.slices):
            for name, each in measured.items():
                best[name] = min(best[name], next(each, math.inf))
        shown = (
            f"{name} {messages / least / 1e6:.2f} ({least / best['plain']:.1f})"
            for name, least in best.items()
        )
        print(f"{players:6,} rebecs {balls:6,} due:  {', '.join(shown)}", flush=True)


if __name__ == "__main__":
    main()
