"""Bind a port, start the server and the browser, and end both."""

from __future__ import annotations

import asyncio
import secrets
import socket
import threading
import webbrowser
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from rebecsim.errors import UserError
from rebecsim.web.addresses import run_text
from rebecsim.web.app import make_app
from rebecsim.web.classroom import (
    Classroom,
    is_loopback,
    machine_addresses,
    short_token,
    stands_for_all,
)
from rebecsim.web.connections import BoundedConnection, allow_files, drop_overdue
from rebecsim.web.guard import Admission
from rebecsim.web.library import Library
from rebecsim.web.limits import IDLE_SECONDS

USUAL_PORT = 8765

_BACKLOG = 64
"""Connections that are accepted in one go, before the others are looked after."""


class _Program(uvicorn.Server):
    """Drops slow clients, and ends streams at shutdown, which would otherwise wait for them."""

    def __init__(self, config: uvicorn.Config, closing: threading.Event) -> None:
        super().__init__(config)
        self._closing = closing

    async def on_tick(self, counter: int) -> bool:
        """Look after connections, each second."""
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
