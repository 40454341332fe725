"""Close connections that are slow or silent, so that new ones find a place.

uvicorn itself closes a connection that is silent after an answer. This module also closes those
that send no request, send it slowly, or take an answer slowly. When there are too many, it closes
the one whose client has been silent longest.
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Collection
from typing import Any, Literal

from uvicorn.protocols.http.h11_impl import H11Protocol

from rebecsim.web.guard import Message, Receive, Scope, Send, answer_text
from rebecsim.web.limits import BODY_SECONDS, CONNECTIONS, HEAD_SECONDS, TAKING_SECONDS

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
        """What the client has to do next; empty while the server works on its request."""
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
