"""Start the server and the browser, limit connections, and shut down."""

from __future__ import annotations

import asyncio
import secrets
import socket
import sys
import threading
import webbrowser
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from rebecsim.errors import UserError
from rebecsim.web.addresses import run_text
from rebecsim.web.app import make_app
from rebecsim.web.guard import Admission, Message, Receive, Scope, Send, answer_text
from rebecsim.web.library import Library
from rebecsim.web.limits import (
    BODY_SECONDS,
    CONNECTIONS,
    HEAD_SECONDS,
    IDLE_SECONDS,
    TAKING_SECONDS,
)
from rebecsim.web.visitors import (
    Classroom,
    is_loopback,
    machine_addresses,
    short_token,
    stands_for_all,
)

_FILES_LEFT = 200
"""Files that the server may open beside its connections."""

_PATIENCE = 2.0
"""Seconds after which a connection that sends or takes slowly may have to give way."""


class BoundedConnection(H11Protocol):
    """A connection of uvicorn's, with deadlines."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Register the connection, and close another one if there are too many."""
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        self._opened = self._asks_since = self.loop.time()
        self._sends_since = self._takes_since = 0.0
        self._request: object = None
        self._is_new = True
        make_room(self, self.connections)

    def data_received(self, data: bytes) -> None:
        """Read bytes, and note when a request began."""
        if self.waits_for == "question" and not self._asks_since:
            self._asks_since = self.loop.time()
        super().data_received(data)
        self._note_request()

    def on_response_complete(self) -> None:
        """Go on to the next request, which may have come already."""
        self._is_new = False
        self._asks_since = 0.0
        super().on_response_complete()
        self._note_request()

    def resume_writing(self) -> None:
        """Note that the client has taken some of its answer."""
        super().resume_writing()
        self._takes_since = 0.0

    def _note_request(self) -> None:
        if self.cycle is not self._request:
            self._request = self.cycle
            self._asks_since = 0.0
            self._sends_since = self.loop.time()

    @property
    def waits_for(self) -> Literal["question", "body", "taking", ""]:
        """What the server waits for from the client; empty while it works on a request."""
        if self.transport.get_write_buffer_size():
            return "taking"
        if self.cycle is None or self.cycle.response_complete:
            return "question"
        return "body" if self.cycle.more_body else ""

    def is_overdue(self, now: float) -> bool:
        """Whether the client takes longer than it may; call this once a second."""
        waits_for = self.waits_for
        if waits_for != "taking":
            self._takes_since = 0.0
        elif not self._takes_since:
            self._takes_since = now
        if waits_for == "question":
            return self._asks_since > 0 and now - self._asks_since > HEAD_SECONDS
        if waits_for == "body":
            return now - self._sends_since > BODY_SECONDS
        return self._takes_since > 0 and now - self._takes_since > TAKING_SECONDS

    def place_in_line(self, now: float) -> tuple[int, float] | None:
        """Give a key that sorts connections by which closes first; None while one is answered."""
        waits_for = self.waits_for
        if waits_for == "question":
            return (0, self._opened) if self._is_new else (2, self._opened)
        since = self._sends_since if waits_for == "body" else self._takes_since
        is_slow = waits_for and since and now - since > _PATIENCE
        return (1, since) if is_slow else None

    def refuse(self) -> None:
        """Answer that the server has no room."""
        self.app = _full


def make_room(new: BoundedConnection, connections: Collection[Any]) -> None:
    """If there are too many connections, close the least active one, or refuse the new one."""
    held = Counter(each.address for each in connections)
    if held[new.address] > CONNECTIONS.each:
        others = [each for each in connections if each.address == new.address]
    elif len(connections) > most_connections():
        others = list(connections)
    else:
        return
    now = new.loop.time()
    in_line = [
        (place[0], -held[each.address], place[1], id(each), each)
        for each in others
        if each is not new and (place := each.place_in_line(now)) is not None
    ]
    if in_line:
        leaves = min(in_line)[-1]
        leaves.transport.abort()
        leaves.connections.discard(leaves)
    else:
        new.refuse()


def drop_overdue(connections: Collection[Any], now: float) -> None:
    """Close the connections whose clients take longer than they may."""
    for each in list(connections):
        if each.is_overdue(now):
            each.transport.abort()


def most_connections() -> int:
    """Give the limit on connections; it is lower where the system allows few open files."""
    if sys.platform == "win32":
        return CONNECTIONS.most
    import resource

    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return CONNECTIONS.most
    return max(50, min(CONNECTIONS.most, files - _FILES_LEFT))


def allow_files() -> None:
    """Raise the limit of open files to what connections need, as far as the hard limit allows."""
    if sys.platform == "win32":
        return
    import resource

    wanted = CONNECTIONS.most + _FILES_LEFT
    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY:
        wanted = min(wanted, most)
    if files != resource.RLIM_INFINITY and files < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


async def _full(scope: Scope, receive: Receive, send: Send) -> None:
    async def last(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], (b"connection", b"close")]
        await send(message)

    await answer_text(
        last, 503, "The server has as many connections as it can hold. Try again in a moment.\n"
    )


USUAL_PORT = 8765

_BACKLOG = 64
"""Connections that are accepted in one go, before the others are looked after."""


class _Program(uvicorn.Server):
    """Drops slow clients, and ends streams before shutdown waits for them."""

    def __init__(self, config: uvicorn.Config, closing: threading.Event) -> None:
        super().__init__(config)
        self._closing = closing

    async def on_tick(self, counter: int) -> bool:
        """Close overdue connections; called each second."""
        if counter % 10 == 0:
            drop_overdue(self.server_state.connections, asyncio.get_running_loop().time())
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End when all have been answered."""
        self._closing.set()
        await super().shutdown(sockets)


@dataclass(frozen=True)
class Server:
    """A server that is ready to run.

    Attributes:
        address: where it then answers on this machine; in a class, the teacher's page.
        addresses: where others can open it, with their token; none where it is in no network.
    """

    program: uvicorn.Server
    socket: socket.socket
    address: str
    addresses: tuple[str, ...]

    def run(self, *, browser: bool) -> None:
        """Answer until Ctrl-C, which is raised again when all is closed."""
        if browser:
            opening = threading.Timer(0.5, webbrowser.open, (self.address,))
            opening.daemon = True
            opening.start()
        allow_files()
        try:
            self.program.run(sockets=[self.socket])
        finally:
            self.socket.close()


def prepare(
    given: Path | None,
    host: str = "127.0.0.1",
    port: int | None = None,
    run: Sequence[int] = (),
    *,
    in_class: bool = False,
) -> Server:
    """Bind a port and make a server for these models; a free port if the usual one is taken.

    Its address leads to a model, if one is given, and to the end of this run of it. Other machines
    can reach it only if `host` is another address, and then it asks for a token. For a class, the
    teacher has a token of their own, and the server writes no models.
    Raises UserError for a port that is taken, or an address that is not of this machine.
    """
    library = Library(given, writes=not in_class)
    bound = _bound(host, port)
    place, number = bound.getsockname()[:2]
    if stands_for_all(place):  # however it was written: `0` is 0.0.0.0, too
        host = place
    drawn = short_token() if in_class else secrets.token_urlsafe(24)
    teacher = secrets.token_urlsafe(24) if in_class else None
    admission = Admission(number, None if is_loopback(host) else drawn, teacher)
    start = "" if library.named is None else f"x/{library.named.id}/{run_text(run)}"
    token = "" if admission.token is None else f"?token={admission.token}"
    addresses = tuple(
        f"http://{_in_address(each)}:{number}/{start}{token}" for each in machine_addresses(host)
    )
    here = f"http://{_in_address('127.0.0.1' if stands_for_all(host) else host)}:{number}/"
    own = f"lessons/teacher?token={teacher}" if in_class else f"{start}{token}"
    classroom = Classroom(addresses) if in_class else None
    closing = threading.Event()
    config = uvicorn.Config(
        make_app(library, admission, closing, classroom),
        log_level="warning",
        access_log=False,
        server_header=False,
        backlog=_BACKLOG,
        proxy_headers=False,  # whoever asks could say another address
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=2,
        h11_max_incomplete_event_size=64 * 1024,
        http=BoundedConnection,
        ws="none",
    )
    return Server(_Program(config, closing), bound, f"{here}{own}", addresses)


def _in_address(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _bound(host: str, port: int | None) -> socket.socket:
    try:
        family, _, _, _, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise UserError(f"--host {host}: {error.strerror}") from error
    tries = [USUAL_PORT, 0] if port is None else [port]
    for each in tries:
        bound = socket.socket(family, socket.SOCK_STREAM)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((address[0], each, *address[2:]))
        except OSError as error:
            bound.close()
            if each == tries[-1]:
                raise UserError(f"port {each} of {host}: {error.strerror}") from error
        else:
            return bound
    raise AssertionError("one of the tries has ended this")
