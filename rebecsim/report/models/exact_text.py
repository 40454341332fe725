"""Best, worst and mean over all message orders, as text."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from rebecsim.counted import counted
from rebecsim.exploration.orders import GOALS, ExactOrders, Quantity

_WRITTEN = {
    "increase": "increase of {}",
    "final": "{} at the end",
    "reached": "probability of {}",
    "goes wrong": "probability that something goes wrong",
}


def exact_parts(found: ExactOrders) -> Iterator[str | Table]:
    """What was looked at, and a table of the values."""
    figures = found.figures
    choices = "" if found.law == "fair" else f", choices by the law {found.law}"
    if found.bound is not None:
        yield _how_far(found)
    if not found.is_known:
        return
    yield (
        f"{found.model} up to time {found.until}: {counted(figures['states'], 'state')}, "
        f"{counted(figures['actions'], 'way')} to go on, "
        f"{counted(figures['outcomes'], 'outcome')}{choices}"
    )
    table = Table(box=None, pad_edge=False)
    table.add_column("")
    for name in ("Least", "Random order", "Most"):
        table.add_column(name, justify="right")
    for value in found.values:
        table.add_row(written(value.quantity), *(f"{value[goal]:.6g}" for goal in GOALS))
    yield table


def written(quantity: Quantity) -> str:
    """Write what a quantity is."""
    return _WRITTEN[quantity.kind].format(quantity.text)


def _how_far(found: ExactOrders) -> str:
    what = f"stopped by the limit of {found.bound}"
    if found.bound == "interrupt":
        what = "interrupted"
    if not found.is_known:
        return f"{found.model}: {what} before all states of any time were found: nothing is known"
    return f"{found.model}: {what}, so this is up to time {found.until} and not {found.asked}"
