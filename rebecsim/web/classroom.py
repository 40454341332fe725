"""A class that shares a server: its addresses, and the lessons whose answers the teacher opened."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import zip_longest

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
