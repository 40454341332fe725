"""Milliseconds that a step in the browser's explorer takes, and a class of people who step at once.

Steps: for each model, a run of `--steps` steps is walked at random, each page asked of a server of
this machine over one connection; the time is from the request to the end of the answer. A class:
`--people` threads, each with a connection of its own, take a step once a second for `--seconds`,
all on the same model and each along a way of its own; every fifth time they have a text checked
instead, and at first they explore one of their own. With `--idle` and `--slow`, so many connections
of another process say nothing all the while, or send or take a byte a second; those that the server
drops are opened again.
"""

from __future__ import annotations

import argparse
import http.client
import multiprocessing
import os
import random
import re
import socket
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

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
        self._port = port
        self._start = self._next = start
        self._random = random.Random(seed)
        self._cookie = ""
        self.milliseconds: list[float] = []
        self.errors: list[str] = []

    def step(self) -> None:
        """Ask for a page, and choose what is next; at the end of a run, the beginning."""
        said = self._asked(self._next, 200)
        if said is None:
            return
        ways = WAY.findall(said[1])
        self._next = self._random.choice(ways).replace("&amp;", "&") if ways else self._start

    def check(self, text: str) -> None:
        """Have a text checked."""
        self._asked("/edit/check", 200, {"text": text})

    def explore(self, text: str) -> None:
        """Explore a text, and go on there."""
        said = self._asked("/edit/explore", 303, {"text": text, "name": "mine"})
        self._start = self._next = self._next if said is None else said[0]

    def _asked(
        self, address: str, status: int, form: dict[str, str] | None = None
    ) -> tuple[str, str] | None:
        """Give where an answer leads, and its text; None, and take it down, if it is wrong."""
        headers = {"Cookie": self._cookie} if self._cookie else {}
        if form is not None:
            headers |= {
                "Origin": f"http://127.0.0.1:{self._port}",
                "Content-Type": "application/x-www-form-urlencoded",
            }
        began = time.perf_counter()
        try:
            method = "GET" if form is None else "POST"
            body = None if form is None else urlencode(form)
            self._connection.request(method, address, body, headers)
            answer = self._connection.getresponse()
            page = answer.read().decode("utf-8")
        except (OSError, http.client.HTTPException) as error:
            self.errors.append(f"{address[:40]}: {error!r}")
            return None
        self.milliseconds.append(1000 * (time.perf_counter() - began))
        self._cookie = (answer.headers["set-cookie"] or self._cookie).partition(";")[0]
        if answer.status != status:
            self.errors.append(f"{address[:40]}: {answer.status}")
            return None
        return answer.headers["location"] or "", page


class Nuisance:
    """A connection that says nothing, or that sends or takes a byte a second."""

    def __init__(self, port: int, kind: str) -> None:
        self._port, self._kind = port, kind
        self.dropped = -1
        self._open()

    def _open(self) -> None:
        self.dropped += 1
        head = f"Host: 127.0.0.1:{self._port}\r\n"
        form = (
            "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 9999\r\n\r\ntext="
        )
        origin = f"Origin: http://127.0.0.1:{self._port}\r\n"
        said = {
            "idle": "",
            "head": f"GET / HTTP/1.1\r\n{head}",
            "body": f"POST /edit/check HTTP/1.1\r\n{head}{origin}{form}",
            "taking": f"GET /static/codemirror.min.js HTTP/1.1\r\n{head}\r\n" * 20,
        }
        self._socket = socket.socket()
        if self._kind == "taking":
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self._socket.connect(("127.0.0.1", self._port))
        self._socket.sendall(said[self._kind].encode())
        self._socket.setblocking(False)

    def go_on(self) -> None:
        """Send or take a byte; open it again if it was dropped."""
        try:
            if self._kind in ("head", "body"):
                self._socket.send(b"X: y\r\n" if self._kind == "head" else b"y")
            if self._kind == "taking":
                self._socket.send(b"G")
            is_closed = not self._socket.recv(1)
        except BlockingIOError:
            return
        except OSError:
            is_closed = True
        if is_closed:
            self._socket.close()
            self._open()


def be_a_nuisance(port: int, idle: int, slow: int, dropped: Any, over: Any) -> None:
    """Hold connections until it is over, and count in `dropped` how often they were closed."""
    kinds = ["idle"] * idle + [("head", "body", "taking")[number % 3] for number in range(slow)]
    connections = [Nuisance(port, kind) for kind in kinds]
    while not over.wait(1.0):
        for each in connections:
            each.go_on()
        dropped[0] = sum(each.dropped for each in connections[:idle])
        dropped[1] = sum(each.dropped for each in connections[idle:])


def serve(model: Path, *options: str) -> tuple[subprocess.Popen[str], int, str]:
    """Start a server for a model: its process, its port, and the address of the beginning."""
    command = [sys.executable, "-m", "rebecsim", "web", str(model), "--no-browser", "--port", "0"]
    command += options
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
    print(f"{model:24} {statistics.median(times):8.1f} {last:8.1f} {len(person.errors):7}")


def measure_class(people: int, seconds: int, idle: int, slow: int) -> list[str]:
    """Print how long people wait who step at once, and the memory of the server.

    Gives what went wrong for them.
    """
    model = ROOT / "models" / "ticket_service.rebeca"
    process, port, start = serve(model, "--class")
    dropped, over = multiprocessing.Array("i", 2), multiprocessing.Event()
    others = multiprocessing.Process(target=be_a_nuisance, args=(port, idle, slow, dropped, over))
    try:
        ready(port, start)
        others.start()
        time.sleep(2 if idle + slow else 0)
        persons = [Person(port, start, seed) for seed in range(people)]
        learn_at_once(persons, seconds, model.read_text("utf-8"))
    finally:
        over.set()
        others.join()
        process.terminate()
        _, _, used = os.wait4(process.pid, 0)
    times = [each for person in persons for each in person.milliseconds]
    last = statistics.quantiles(times, n=20)[-1]
    errors = [each for person in persons for each in person.errors]
    print(
        f"{people} people, {len(times):,} answers, {len(errors)} errors: median "
        f"{statistics.median(times):.1f} ms, 95 % within {last:.1f} ms; the server: "
        f"{used.ru_maxrss / 1024:.0f} MB at most, {used.ru_utime:.1f} s of a processor"
    )
    if idle + slow:
        print(
            f"beside {idle} connections that say nothing, dropped {dropped[0]:,} times, and {slow} "
            f"slow ones, dropped {dropped[1]:,} times"
        )
    return errors


def learn_at_once(persons: list[Person], seconds: int, text: str) -> None:
    """Have people explore a text of their own, and step or check once a second."""
    end = time.monotonic() + seconds

    def learn(person: Person, number: int) -> None:
        time.sleep(number / len(persons))
        person.step()
        person.explore(f"{text}// {number}")
        done = 0
        while time.monotonic() < end:
            began = time.monotonic()
            done += 1
            person.step() if done % 5 else person.check(text)
            time.sleep(max(0.0, 1.0 - (time.monotonic() - began)))

    threads = [threading.Thread(target=learn, args=each[::-1]) for each in enumerate(persons)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main() -> None:
    """Measure steps of each model, unless there are none, then a class."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--people", type=int, default=30)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--idle", type=int, default=0)
    parser.add_argument("--slow", type=int, default=0)
    given = parser.parse_args()
    if given.steps:
        measure_models(given.steps)
    for error in measure_class(given.people, given.seconds, given.idle, given.slow)[:10]:
        print(error)


def measure_models(steps: int) -> None:
    """Print how long steps of each model take."""
    print(f"{'model':24} {'median':>8} {'95 %':>8} {'errors':>7}   ms a step, {steps} steps")
    for model in MODELS:
        measure_steps(model, steps)


if __name__ == "__main__":
    main()
