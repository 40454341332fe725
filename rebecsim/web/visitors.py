"""Tell browsers of a shared server apart, and count wrong tokens of each address."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections import OrderedDict
from collections.abc import Mapping

from rebecsim.web.classroom import Classroom
from rebecsim.web.limits import FORGETTING, NEW_BROWSERS, WRONG_TOKENS, Visitor

_MOST_ADDRESSES = 1000


class Recent:
    """Counts different events of each address within a minute."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._done: OrderedDict[str, dict[bytes, float]] = OrderedDict()

    def is_full(self, address: str) -> bool:
        """Whether an address has reached the limit."""
        since = time.monotonic() - FORGETTING
        done = self._done.get(address, {})
        return sum(when > since for when in done.values()) >= self._most

    def add(self, address: str, what: str) -> None:
        """Count an event, unless it was counted before."""
        now = time.monotonic()
        done = {
            key: when
            for key, when in self._done.pop(address, {}).items()
            if now < when + FORGETTING
        }
        if len(done) < self._most:
            done[hashlib.sha256(what.encode("utf-8", "replace")).digest()] = now
        self._done[address] = done
        while len(self._done) > _MOST_ADDRESSES:
            self._done.popitem(last=False)


class Visitors:
    """Tells browsers apart by a cookie that only this server can make.

    Args:
        port: of this server: cookies are not told apart by ports.
        tells_apart: whether browsers get one; else all of an address are one client.
        classroom: of the class that the server is for, if it is.
    """

    def __init__(self, port: int, *, tells_apart: bool, classroom: Classroom | None) -> None:
        self._cookie = f"rebecsim-{port}-browser"
        self._tells_apart, self._classroom = tells_apart, classroom
        self._secret = secrets.token_bytes(32)
        self._new = Recent(NEW_BROWSERS)
        self.wrong_tokens = Recent(WRONG_TOKENS)

    def visitor(self, address: str, cookies: Mapping[str, str], *, is_teacher: bool) -> Visitor:
        """Give who asks, by address and cookies."""
        name, _, signed = cookies.get(self._cookie, "").partition(".")
        is_known = bool(name) and hmac.compare_digest(signed.encode(), self._signed(name).encode())
        room = self._classroom
        opened = None if room is None or is_teacher else room.opened
        return Visitor(address, name if is_known else "", room is not None, opened)

    def introduced(self, who: Visitor) -> bytes | None:
        """Give a cookie for a new browser; None if it needs none, or its address has too many."""
        if not self._tells_apart or who.browser or self._new.is_full(who.address):
            return None
        name = secrets.token_hex(8)
        self._new.add(who.address, name)
        value = f"{self._cookie}={name}.{self._signed(name)}; Path=/; HttpOnly; SameSite=Lax"
        return value.encode()

    def _signed(self, name: str) -> str:
        return hmac.new(self._secret, name.encode("utf-8", "replace"), "sha256").hexdigest()[:32]
