"""Messages per second of live runs beside bare pykka, in the same process.

Actors in a ring pass tokens on. With one token, each message wakes the thread of another actor;
with one for each actor, mailboxes are full and threads are seldom changed. Bare pykka actors pass
on a number and do nothing else. A live run also has bags, choices, time and a log of what was
changed and sent. Each is measured several times in turn, and the median is shown.
"""

from __future__ import annotations

import argparse
import statistics
import threading
import time

import pykka

from rebecsim.actors import (
    Instance,
    Int,
    Model,
    Rebec,
    known_rebec,
    message_server,
    state_variable,
)
from rebecsim.live import run_live

RINGS = [(2, 1), (100, 1), (100, 20), (100, 100)]


class Bare(pykka.ThreadingActor):
    """Passes a number on, one less, as long as it is not 0."""

    use_daemon_thread = True

    def __init__(self, finished: threading.Semaphore) -> None:
        super().__init__()
        self.following: pykka.ActorRef[Bare]
        self._finished = finished

    def on_receive(self, message: object) -> None:
        """Take a number, or at first the next actor."""
        if isinstance(message, pykka.ActorRef):
            self.following = message
        elif isinstance(message, int) and message > 0:
            self.following.tell(message - 1)
        else:
            self._finished.release()


class Station(Rebec, queue_size=1000):
    """The same as a rebec, which counts what it has served."""

    following: Station = known_rebec()
    served: int = state_variable(Int)

    def __init__(self, tokens: int, left: int) -> None:
        for _ in range(tokens):
            self.token(left)

    @message_server
    def token(self, left: int) -> None:
        """Take a token."""
        self.served += 1
        if left > 0:
            self.following.token(left - 1)


def bare(actors: int, tokens: int, messages: int) -> float:
    """Give the messages per second of bare pykka."""
    finished = threading.Semaphore(0)
    references = [Bare.start(finished) for _ in range(actors)]
    for place, reference in enumerate(references):
        reference.ask(references[(place + 1) % actors])
    started = time.perf_counter()
    for token in range(tokens):
        references[token * actors // tokens].tell(messages // tokens - 1)
    for _ in range(tokens):
        finished.acquire()
    seconds = time.perf_counter() - started
    for reference in references:
        reference.stop()
    return messages / seconds


def live(actors: int, tokens: int, messages: int, core: bool) -> float:
    """Give the messages per second of a live run in virtual time."""
    starts = {token * actors // tokens for token in range(tokens)}
    model = Model(
        "ring",
        tuple(
            Instance(
                f"s{place}",
                Station,
                [f"s{(place + 1) % actors}"],
                [int(place in starts), messages // tokens - 1],
            )
            for place in range(actors)
        ),
        core,
    )
    run = run_live(model)
    assert len(run.log.served) == messages, run.log.ending
    return messages / run.seconds


def main() -> None:
    """Print a table, a row for each ring."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=20_000, help="messages in each run")
    parser.add_argument("--times", type=int, default=5, help="runs of each")
    arguments = parser.parse_args()
    print("| Actors | Tokens | Bare pykka | Live, core | Live, timed | Beside bare pykka |")
    print("| --- | --- | --- | --- | --- | --- |")
    for actors, tokens in RINGS:
        rates: list[list[float]] = [[], [], []]
        for _ in range(arguments.times):
            rates[0].append(bare(actors, tokens, arguments.messages))
            rates[1].append(live(actors, tokens, arguments.messages, core=True))
            rates[2].append(live(actors, tokens, arguments.messages, core=False))
        plain, core, timed = map(statistics.median, rates)
        print(
            f"| {actors} | {tokens} | {plain:,.0f}/s | {core:,.0f}/s | {timed:,.0f}/s | "
            f"{core / plain:.2f}, {timed / plain:.2f} |"
        )


if __name__ == "__main__":
    main()
