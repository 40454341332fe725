"""Milliseconds that a step in the browser's explorer takes, and a class of people who step at once.

Steps: for each model, a run of `--steps` steps is walked at random, each page asked of a server of
this machine over one connection; the time is from the request to the end of the answer. A class:
`--people` threads, each with a connection of its own, take a step once a second for `--seconds`,
all on the same model and each along a way of its own.
"""

from __future__ import annotations

import argparse
import http.client
import os
import random
import re
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MODELS = (
    "ticket_service",
    "teaching/philosophers",
    "teaching/sensor_network",
    "teaching/train_crossing",
    "teaching/yarn_fifo2",
    "benchmarks/yarn_fifo4",
)
WAY = re.compile(r'<a class="way[^>]*href="([^"]+)"')


class Person:
    """Someone at a browser: asks for a page, and then for one that it offers."""

    def __init__(self, port: int, start: str, seed: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self._start = self._next = start
        self._random = random.Random(seed)
        self.milliseconds: list[float] = []
        self.errors = 0

    def step(self) -> None:
        """Ask for a page, and choose what is next; at the end of a run, the beginning."""
        began = time.perf_counter()
        try:
            self._connection.request("GET", self._next)
            answer = self._connection.getresponse()
            page = answer.read().decode("utf-8")
        except OSError:
            self.errors += 1
            return
        self.milliseconds.append(1000 * (time.perf_counter() - began))
        self.errors += answer.status != 200
        ways = WAY.findall(page)
        self._next = self._random.choice(ways).replace("&amp;", "&") if ways else self._start


def serve(model: Path) -> tuple[subprocess.Popen[str], int, str]:
    """Start a server for a model: its process, its port, and the address of the beginning."""
    command = [sys.executable, "-m", "rebecsim", "web", str(model), "--no-browser", "--port", "0"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8"
    )
    assert process.stdout is not None
    found = re.search(r":(\d+)(/x/\w+)", process.stdout.readline())
    assert found is not None
    return process, int(found[1]), f"{found[2]}/-"


def ready(port: int, start: str) -> Person:
    """Wait until the server answers, and until its search for a verdict has ended."""
    while True:
        someone = Person(port, start, seed=1)
        someone.step()
        if not someone.errors:
            break
        time.sleep(0.1)
    waiting = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    while True:
        waiting.request("GET", f"{start}/verdict")
        if b"hx-get" not in waiting.getresponse().read():
            return Person(port, start, seed=1)
        time.sleep(0.5)


def measure_steps(model: str, steps: int) -> None:
    """Print the median and the 95th percentile of the steps of a run."""
    process, port, start = serve(ROOT / "models" / f"{model}.rebeca")
    try:
        person = ready(port, start)
        for _ in range(steps):
            person.step()
    finally:
        process.terminate()
        process.wait()
    times = person.milliseconds
    last = statistics.quantiles(times, n=20)[-1]
    print(f"{model:24} {statistics.median(times):8.1f} {last:8.1f} {person.errors:7}")


def measure_class(people: int, seconds: int) -> None:
    """Print how long people wait who step at once, and the memory of the server."""
    process, port, start = serve(ROOT / "models" / "ticket_service.rebeca")
    try:
        ready(port, start)
        persons = [Person(port, start, seed) for seed in range(people)]
        end = time.monotonic() + seconds

        def learn(person: Person, late: float) -> None:
            time.sleep(late)
            while time.monotonic() < end:
                began = time.monotonic()
                person.step()
                time.sleep(max(0.0, 1.0 - (time.monotonic() - began)))

        threads = [
            threading.Thread(target=learn, args=(person, number / people))
            for number, person in enumerate(persons)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        process.terminate()
        _, _, used = os.wait4(process.pid, 0)
    times = [each for person in persons for each in person.milliseconds]
    last = statistics.quantiles(times, n=20)[-1]
    errors = sum(person.errors for person in persons)
    print(
        f"{people} people, {len(times):,} steps, {errors} errors: median "
        f"{statistics.median(times):.1f} ms, 95 % within {last:.1f} ms; the server: "
        f"{used.ru_maxrss / 1024:.0f} MB at most, {used.ru_utime:.1f} s of a processor"
    )


def main() -> None:
    """Measure steps of each model, then a class."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--people", type=int, default=30)
    parser.add_argument("--seconds", type=int, default=60)
    given = parser.parse_args()
    print(f"{'model':24} {'median':>8} {'95 %':>8} {'errors':>7}   ms a step, {given.steps} steps")
    for model in MODELS:
        measure_steps(model, given.steps)
    measure_class(given.people, given.seconds)


if __name__ == "__main__":
    main()
