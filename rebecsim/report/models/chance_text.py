"""Estimated probabilities as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from rich.table import Table

from rebecsim.exploration.orders import Quantity
from rebecsim.report.models.exact_text import written


class Likely(Protocol):
    """A probability with its interval, and how many runs it is from."""

    @property
    def value(self) -> float:
        """The estimate."""

    @property
    def low(self) -> float:
        """Lower end of the interval."""

    @property
    def high(self) -> float:
        """Upper end."""

    @property
    def runs(self) -> int:
        """How many runs were done."""


def chance_parts(
    heading: str, found: Sequence[tuple[Quantity, Likely]], level: float
) -> Iterator[str | Table]:
    """What was run, and a table of probabilities with their intervals."""
    yield heading
    table = Table(box=None, pad_edge=False)
    table.add_column("")
    for name in ("Random order", f"{level * 100:g} % interval", "Runs"):
        table.add_column(name, justify="right")
    for quantity, each in found:
        table.add_row(
            written(quantity),
            f"{each.value:.4g}",
            f"{each.low:.4g} to {each.high:.4g}",
            f"{each.runs:,}",
        )
    yield table
