"""The language of `--constraint`: `a&b`, `a|b`, `[a|b]`, `a*2&b*1` and parentheses.

A constraint becomes alternatives, which are tried in order: all nodes of a job meet one of them. An
alternative says which nodes may be used, as bits of a number, and how many must be of which sort.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

_TOKEN = re.compile(r"\s*([A-Za-z0-9_.:/=+-]+|[][()&|,*])")


class Alternative(NamedTuple):
    """Nodes that a job may use, and for counted features `(nodes, how many)` of each."""

    nodes: int
    counted: tuple[tuple[int, int], ...] = ()


class FeatureError(ValueError):
    """A constraint that cannot be read."""


class _Reader:
    """Reads one constraint; sets of nodes are bits, `having` gives those of a feature."""

    def __init__(self, text: str, everything: int, having: Callable[[str], int]) -> None:
        self.tokens = list(_tokens(text))
        self.text, self.everything, self.having = text, everything, having
        self.counted: list[tuple[int, int]] = []
        self.same: list[list[int]] = []  # what `[a|b]` leaves to choose

    def alternatives(self) -> tuple[Alternative, ...]:
        nodes = self.either()
        if self.tokens:
            raise self.wrong(f"unexpected {self.tokens[0]!r}")
        counted = tuple(self.counted)
        if counted:
            nodes = 0
            for bits, _ in counted:
                nodes |= bits
        found = [Alternative(nodes, counted)]
        for choices in self.same:
            found = [Alternative(each.nodes & one, counted) for each in found for one in choices]
        return tuple(found)

    def either(self) -> int:
        nodes = self.both()
        while self.tokens and self.tokens[0] == "|":
            self.tokens.pop(0)
            nodes |= self.both()
        return nodes

    def both(self) -> int:
        nodes = self.one()
        while self.tokens and self.tokens[0] in "&,":
            self.tokens.pop(0)
            nodes &= self.one()
        return nodes

    def one(self) -> int:
        if not self.tokens:
            raise self.wrong("a feature is missing at the end")
        token = self.tokens.pop(0)
        if token == "(":
            nodes = self.either()
            self.close(")")
        elif token == "[":
            choices = [self.both()]
            while self.tokens and self.tokens[0] == "|":
                self.tokens.pop(0)
                choices.append(self.both())
            self.close("]")
            if not self.counted:
                self.same.append(choices)
            nodes = self.everything
        elif token in "])&|,*":
            raise self.wrong(f"unexpected {token!r}")
        else:
            nodes = self.having(token)
        if self.tokens and self.tokens[0] == "*":
            self.tokens.pop(0)
            if not self.tokens or not self.tokens[0].isdecimal():
                raise self.wrong("* needs a number of nodes")
            self.counted.append((nodes, int(self.tokens.pop(0))))
            return self.everything
        return nodes

    def close(self, bracket: str) -> None:
        if not self.tokens or self.tokens.pop(0) != bracket:
            raise self.wrong(f"{bracket!r} is missing")

    def wrong(self, problem: str) -> FeatureError:
        return FeatureError(f"constraint {self.text!r}: {problem}")


def _tokens(text: str) -> Iterator[str]:
    place = 0
    while place < len(text.rstrip()):
        found = _TOKEN.match(text, place)
        if found is None:
            raise FeatureError(f"constraint {text!r}: unexpected {text[place]!r}")
        yield found[1]
        place = found.end()


def alternatives(
    text: str, everything: int, having: Callable[[str], int]
) -> tuple[Alternative, ...]:
    """Read a constraint; `having` gives the nodes that have a feature, as bits.

    Raises FeatureError for a text that is no constraint.
    """
    if not text.strip():
        return (Alternative(everything),)
    return _Reader(text, everything, having).alternatives()
