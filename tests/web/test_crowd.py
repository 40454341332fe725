"""The server with many connections: silent, slow, and those of people who use it."""

from __future__ import annotations

import http.client
import multiprocessing
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from benchmarks.web import Nuisance, Person, be_a_nuisance, learn_at_once
from rebecsim.web import Library, Share, serving
from tests.waiting import wait_for
from tests.web.chromium import running

TICKETS = (Path(__file__).resolve().parents[2] / "models/ticket_service.rebeca").read_text("utf-8")

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.fixture
def port(tmp_path: Path, no_searches: None) -> Iterator[int]:
    (tmp_path / "a.rebeca").write_text(TICKETS)
    with running(tmp_path) as address:
        yield urlsplit(address).port or 0


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the server wait a second for its clients."""
    for name in ("HEAD_SECONDS", "BODY_SECONDS", "TAKING_SECONDS"):
        monkeypatch.setattr(serving, name, 1.0)


def few(monkeypatch: pytest.MonkeyPatch, each: int, most: int) -> None:
    monkeypatch.setattr(serving, "CONNECTIONS", Share(each, most))
    monkeypatch.setattr(serving, "most_connections", lambda: most)


def opened(port: int, source: str = "127.0.0.1") -> socket.socket:
    found = socket.create_connection(("127.0.0.1", port), 60, (source, 0))
    found.settimeout(60)
    return found


def status(connection: socket.socket, port: int) -> int:
    """Ask for a page over a connection, and give the status of the answer; 0 if it is closed."""
    head = f"GET /static/icon.svg HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"
    try:
        connection.sendall(head.encode())
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        answer.read()
    except (OSError, http.client.HTTPException):
        return 0
    return answer.status


def test_a_class_has_no_errors_beside_silent_and_slow_connections(
    port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "HEAD_SECONDS", 1.5)
    dropped, over = multiprocessing.Array("i", 2), multiprocessing.Event()
    crowd = (port, 100, 6, dropped, over)
    others = threading.Thread(target=be_a_nuisance, args=crowd)
    others.start()
    start = f"/x/{Library(tmp_path).models()[0].id}/-"
    people = [Person(port, start, seed) for seed in range(6)]
    try:
        learn_at_once(people, 4, TICKETS)
        wait_for(lambda: dropped[0] >= 100 and dropped[1])
    finally:
        over.set()
        others.join()
    assert [each.errors for each in people] == [[]] * 6
    assert all(len(each.milliseconds) >= 2 for each in people)


@pytest.mark.parametrize("kind", ["idle", "head", "body", "taking"])
def test_whoever_is_slow_is_dropped(port: int, quick: None, kind: str) -> None:
    slow = Nuisance(port, kind)

    def is_dropped() -> bool:
        time.sleep(0.1)
        slow.go_on()
        return slow.dropped > 0

    wait_for(is_dropped)


def test_whoever_is_slow_with_a_later_request_is_dropped(port: int, quick: None) -> None:
    connection = opened(port)
    assert status(connection, port) == 200
    connection.sendall(b"GET / HTTP/1.1\r\n")
    assert connection.recv(100) == b""


def test_a_connection_that_is_not_used_any_more_is_closed(port: int) -> None:
    connection = opened(port)
    assert status(connection, port) == 200
    began = time.monotonic()
    assert connection.recv(100) == b""
    assert 4 < time.monotonic() - began < 60


def test_silent_connections_give_way_to_new_ones(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    few(monkeypatch, 20, 20)
    used = opened(port)
    assert status(used, port) == 200
    silent = [opened(port) for _ in range(60)]
    assert status(opened(port), port) == 200
    assert status(used, port) == 200  # those that have asked go last
    said = [status(each, port) for each in silent]
    assert said[:40] == [0] * 40
    assert said[-10:] == [200] * 10


def test_a_client_gives_way_only_to_itself_when_it_has_its_share(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    few(monkeypatch, 20, 1000)
    other = opened(port, "127.0.0.2")
    time.sleep(0.2)
    silent = [opened(port) for _ in range(60)]
    assert status(silent[-1], port) == 200
    assert status(silent[0], port) == 0
    assert status(other, port) == 200


def test_when_all_are_being_answered_new_ones_are_told_so(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    few(monkeypatch, 3, 3)
    going_on = threading.Event()

    def slow(self: Library) -> list[object]:
        going_on.wait(60)
        return []

    monkeypatch.setattr("rebecsim.web.library.Library.models", slow)
    head = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
    served = [opened(port) for _ in range(3)]
    for each in served:
        each.sendall(head)
    time.sleep(0.5)
    refused = opened(port)
    refused.sendall(head)
    answer = refused.recv(10_000).decode()
    assert answer.startswith("HTTP/1.1 503 ")
    assert "retry-after" in answer
    assert (
        "The server has as many connections as it can hold" in answer + refused.recv(1000).decode()
    )
    going_on.set()
    assert [each.recv(12)[9:12] for each in served] == [b"200"] * 3


def test_a_client_has_few_requests_and_others_do_not_wait(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    going_on, begun = threading.Event(), []

    def slow(self: Library) -> list[object]:
        begun.append(1)
        going_on.wait(60)
        return []

    monkeypatch.setattr("rebecsim.web.library.Library.models", slow)
    head = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
    greedy = [opened(port) for _ in range(50)]  # there are 40 threads
    for each in greedy:
        each.sendall(head)
    wait_for(lambda: len(begun) == 8)
    assert status(opened(port, "127.0.0.2"), port) == 200
    assert len(begun) == 8
    going_on.set()
    assert [each.recv(12)[9:12] for each in greedy] == [b"200"] * 50


@pytest.mark.parametrize(
    ("now", "then"),
    [
        ((256, 4096), (1200, 4096)),
        ((256, 512), (512, 512)),
        ((256, -1), (1200, -1)),
        ((5000, 9000), None),
        ((-1, -1), None),
    ],
)
def test_the_server_asks_for_files_and_lowers_no_limit(
    monkeypatch: pytest.MonkeyPatch, now: tuple[int, int], then: tuple[int, int] | None
) -> None:
    resource = pytest.importorskip("resource")
    known = {-1: resource.RLIM_INFINITY}
    limits = tuple(known.get(each, each) for each in now)
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda what: limits)
    monkeypatch.setattr(resource, "setrlimit", lambda what, wanted: asked.append(wanted))
    serving.allow_files()
    wanted = [] if then is None else [tuple(known.get(each, each) for each in then)]
    assert asked == wanted
    assert serving.most_connections() == (56 if now[0] == 256 else 1000)
