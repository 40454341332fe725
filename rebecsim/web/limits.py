"""Limits of the server: how much one client and all clients may use at a time.

The guide `docs/guides/web-server.md` has these numbers; a test compares them.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from rebecsim.errors import UserError

if sys.platform != "win32":
    import fcntl

KILOBYTE, MEGABYTE = 1024, 1024 * 1024


@dataclass(frozen=True)
class Share:
    """How much each client may hold at a time, and all clients together."""

    each: int
    most: int


LARGEST_BODY = 512 * KILOBYTE
LONGEST_ADDRESS = 16 * KILOBYTE
CONNECTIONS = Share(600, 1000)
BODY_BYTES = Share(8 * MEGABYTE, 64 * MEGABYTE)
ANSWER_BYTES = Share(64 * MEGABYTE, 256 * MEGABYTE)
SEARCHES = Share(10, 60)
"""Questions about a model that wait for an answer or are being answered."""

SEARCHES_AT_ONCE = 2
STREAMS = Share(8, 60)
"""Pages that watch a study."""

TEXTS = Share(20, 600)
"""Texts typed in a browser that the explorer knows; the oldest are forgotten."""

MOST_VALUES = 100_000
"""Values of all variables of a model that is stepped through."""

MOST_STUDIES = 4
QUERIES_AT_ONCE = 2
"""Questions in SQL that are answered at a time."""

REQUESTS_EACH = 8
"""Requests of a client that are worked on at a time; the others wait for their turn."""

PATIENCE = 20.0
"""Seconds that a request waits for its turn, or for a model that others use."""

HEAD_SECONDS = 10.0
"""Seconds that a client has to connect and say what it wants, and again for each request."""

BODY_SECONDS = 30.0
"""Seconds that a client has to send the body of a request."""

TAKING_SECONDS = 20.0
"""Seconds in which a client takes 48 KB of an answer, or the rest of it."""

IDLE_SECONDS = 5
"""Seconds that a connection is kept after an answer."""

WRONG_TOKENS = 10
"""Different wrong tokens from an address within `FORGETTING` before none of it is looked at."""

FORGETTING = 60.0
NEW_BROWSERS = 120
"""Browsers that an address may bring within `FORGETTING` to be told apart."""


class BusyError(UserError):
    """The server, or the part asked for, is at its limit at the moment."""


class Quota:
    """Counts what clients hold, and keeps it within a share."""

    def __init__(self, share: Share) -> None:
        self._share = share
        self._lock = threading.Lock()
        self._taken: Counter[str] = Counter()
        self._all = 0

    def take(self, client: str, size: int = 1) -> bool:
        """Take an amount, and say whether the share allowed it."""
        with self._lock:
            if self._taken[client] + size > self._share.each or self._all + size > self._share.most:
                return False
            self._taken[client] += size
            self._all += size
            return True

    def free(self, client: str, size: int = 1) -> None:
        """Give an amount back."""
        with self._lock:
            self._all -= size
            self._taken[client] -= size
            if not self._taken[client]:
                del self._taken[client]


@dataclass(frozen=True)
class Visitor:
    """The visitor who sends a request.

    Attributes:
        address: where the request comes from.
        browser: a name, if the server tells browsers apart.
        in_class: whether the server is for a class.
        opened: the lessons whose answers a pupil may see; None for others, who may see all.
    """

    address: str = ""
    browser: str = ""
    in_class: bool = False
    opened: frozenset[str] | None = None

    @property
    def name(self) -> str:
        """The name that limits count by: the browser, or the address."""
        return self.browser or self.address

    @property
    def is_pupil(self) -> bool:
        """Whether it is a class, and this is not its teacher."""
        return self.opened is not None

    @property
    def owner(self) -> str:
        """The name under which typed texts are kept for a pupil alone; empty for others."""
        return self.name if self.is_pupil else ""

    def may_see(self, owner: str) -> bool:
        """Whether a typed text with this owner may be shown; one without an owner always may."""
        return not owner or owner in (self.browser, self.address)

    def may_see_answers(self, lesson: str) -> bool:
        """Whether the answers of a lesson may be shown."""
        return self.opened is None or lesson in self.opened


visitor: ContextVar[Visitor] = ContextVar("visitor", default=Visitor())  # noqa: B039 - frozen
"""Who has sent the request that is being answered."""

_alone = threading.Lock()


@contextmanager
def alone_in(directory: Path) -> Iterator[None]:
    """Hold a lock on a directory, so that no other server adds to it, while the block runs.

    The directory itself is locked, so no file is left in it; where that cannot be done, only
    requests of this process wait for one another.
    """
    with _alone:
        if sys.platform == "win32":
            yield
            return
        opened = os.open(directory, os.O_RDONLY)
        try:
            with suppress(OSError):  # a file system without locks
                fcntl.flock(opened, fcntl.LOCK_EX)
            yield
        finally:
            os.close(opened)
