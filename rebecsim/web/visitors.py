"""Visitors of a shared server: the class with its open lessons, and its browsers."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import socket
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import zip_longest

from rebecsim.web.limits import FORGETTING, NEW_BROWSERS, WRONG_TOKENS, Visitor

_LETTERS = "bcdfghjkmnpqrstvwxz"
"""Letters that are not mistaken for digits, and make no words."""

_DRAWN = 8
_PROBES = ("192.0.2.1", "10.255.255.254", "172.31.255.254", "192.168.255.254")
"""One address of the internet and one of each kind of local network; nothing is sent there."""

_BORDER = 4  # light modules around a QR code, as its standard has it


class Classroom:
    """What a teacher sets for all pupils; it is forgotten when the server ends."""

    def __init__(self, addresses: Sequence[str] = ()) -> None:
        self.addresses = tuple(addresses)
        self.opened: frozenset[str] = frozenset()

    def open(self, lesson: str) -> None:
        """Show the answers of a lesson to pupils."""
        self.opened |= {lesson}

    def close(self, lesson: str) -> None:
        """Hide them again."""
        self.opened -= {lesson}


def short_token() -> str:
    """Draw a token that can be typed: 8 letters, 34 bits; wrong ones are counted."""
    return "".join(secrets.choice(_LETTERS) for _ in range(_DRAWN))


def machine_addresses(host: str) -> tuple[str, ...]:
    """Give the addresses at which other machines reach a server that was bound to `host`.

    That is `host` itself, unless it stands for all addresses, as 0.0.0.0 does; then those of the
    networks that this machine is in, which may be none.
    """
    if not stands_for_all(host):
        return (host,)
    return tuple(dict.fromkeys(each for each in _found_addresses() if not each.startswith("127.")))


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server at this host."""
    return host in ("127.0.0.1", "localhost", "::1")


def stands_for_all(host: str) -> bool:
    """Whether a host means all addresses of this machine, and is none that can be opened."""
    return host in ("0.0.0.0", "::", "")


def _found_addresses() -> Iterator[str]:
    for probe in _PROBES:
        with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as looking:
            looking.connect((probe, 9))  # chooses a way, and sends nothing
            yield str(looking.getsockname()[0])
    with suppress(OSError):
        for found in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET):
            yield str(found[4][0])


def qr_lines(text: str) -> list[str]:
    """Draw a QR code with half blocks: light modules are full, as on a dark terminal."""
    import segno

    code = segno.make(text, micro=False, error="l")
    rows = [bytes(each) for each in code.matrix_iter(border=_BORDER)]
    blocks = {(0, 0): "█", (0, 1): "▀", (1, 0): "▄", (1, 1): " "}
    return [
        "".join(blocks[pair] for pair in zip(upper, lower, strict=True))
        for upper, lower in zip_longest(rows[::2], rows[1::2], fillvalue=bytes(len(rows[0])))
    ]


def qr_svg(text: str) -> str:
    """Draw a QR code as SVG that fills the width it is given."""
    import segno

    return segno.make(text, micro=False, error="l").svg_inline(
        border=_BORDER, light="white", omitsize=True
    )


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
