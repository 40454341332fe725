"""Tables of distributions for the terminal, and durations as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple

from rich.table import Table

from rebecsim.report.tables import text_table
from rebecsim.studies.sections import TextTable
from rebecsim.workloads.summary import Distribution

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


def duration_text(seconds: float) -> str:
    """Write a duration with its two largest units: `35s`, `2h 43m`, `340d 5h`."""
    whole = round(seconds)
    if whole >= _DAY:
        return f"{whole // _DAY}d {whole % _DAY // _HOUR}h"
    if whole >= _HOUR:
        return f"{whole // _HOUR}h {whole % _HOUR // _MINUTE}m"
    if whole >= _MINUTE:
        return f"{whole // _MINUTE}m {whole % _MINUTE}s"
    return f"{round(seconds, 1):g}s"


def distribution_table(distributions: Sequence[Distribution]) -> Table:
    """One row per column of a workload: its mean, and where its values lie."""
    headings = ("", "mean", "least", "25 %", "median", "75 %", "95 %", "most")
    rows = []
    for each in distributions:
        name, unit, _, *values = astuple(each)
        shown = [duration_text(v) if unit == "s" else _number(v) for v in values]
        rows.append((name + (f" ({unit})" if unit not in ("", "s") else ""), tuple(shown)))
    return text_table(TextTable("", headings, tuple(rows)))


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) or value >= 1000 else f"{value:,.1f}"
