"""Slurm's lists of names: `n[1-4,7],x[001-010]`, and the natural order of names (n2 before n10)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

_LARGEST = 1_000_000
_PART = re.compile(r"\d+|\D+", re.ASCII)
_DIGITS = re.compile(r"\d*\Z", re.ASCII)
_GROUP = re.compile(r"\[([^][]*)\]")


class HostListError(ValueError):
    """A list that cannot be read; the text says why."""


def natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """Give the key by which Slurm sorts nodes: digits count as numbers."""
    return tuple(
        (0, int(each), each) if each[0] in "0123456789" else (1, 0, each)
        for each in _PART.findall(name)
    )


def expand(text: str) -> tuple[str, ...]:
    """Give the names of a list in its order.

    A range keeps the leading zeros of its lower bound; several brackets of a name multiply. Raises
    HostListError.
    """
    names: list[str] = []
    for part in _parts(text):
        texts = [""]
        pieces = _GROUP.split(part)
        for number, piece in enumerate(pieces):
            if number % 2:
                texts = [before + each for before in texts for each in _numbers(piece, part)]
            elif "[" in piece or "]" in piece:
                raise HostListError(f"{part!r:.60} has a bracket without its partner")
            else:
                texts = [before + piece for before in texts]
            if len(texts) + len(names) > _LARGEST:
                raise HostListError(f"{part!r:.60} names more than {_LARGEST:,} nodes")
        names += texts
    return tuple(names)


def compress(names: Iterable[str]) -> str:
    """Write names as Slurm does: sorted, with ranges of the last number of each."""
    keyed = []
    for name in sorted(set(names), key=natural):
        digits = _DIGITS.search(name)[0]  # type: ignore[index]  # maybe none
        keyed.append((name[: len(name) - len(digits)], digits))
    texts = []
    for prefix, group in groupby(keyed, key=lambda each: each[0]):
        digits = [each[1] for each in group]
        if not digits[0]:
            texts.append(prefix)
            del digits[0]
        if len(digits) == 1:
            texts.append(prefix + digits[0])
        elif digits:
            texts.append(f"{prefix}[{','.join(_ranges(digits))}]")
    return ",".join(texts)


def _ranges(digits: Sequence[str]) -> list[str]:
    texts: list[list[str]] = []
    for each in digits:
        if texts and int(each) == int(texts[-1][-1]) + 1 and _follows(texts[-1][0], each):
            texts[-1] = [texts[-1][0], each]
        else:
            texts.append([each])
    return ["-".join(each) for each in texts]


def _follows(first: str, last: str) -> bool:
    """Say whether a range from one to the other writes the last one so."""
    return str(int(last)).zfill(len(first)) == last


def _parts(text: str) -> list[str]:
    """Split at the commas outside brackets."""
    parts, depth, begin = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter == "[") - (letter == "]")
        if letter == "," and depth == 0:
            parts.append(text[begin:place])
            begin = place + 1
    parts.append(text[begin:])
    return [each.strip() for each in parts if each.strip()]


def _numbers(text: str, part: str) -> list[str]:
    found: list[str] = []
    for piece in text.split(","):
        bounds = re.fullmatch(r"\s*(\d+)(?:-(\d+))?\s*", piece, re.ASCII)
        if bounds is None:
            raise HostListError(f"{part!r:.60}: {piece!r:.20} is not a number or a range")
        first, last = bounds[1], bounds[2] or bounds[1]
        if int(last) < int(first):
            raise HostListError(f"{part!r:.60}: the range {piece.strip()} goes down")
        if int(last) - int(first) >= _LARGEST:
            raise HostListError(f"{part!r:.60} names more than {_LARGEST:,} nodes")
        found += [str(n).zfill(len(first)) for n in range(int(first), int(last) + 1)]
    return found
