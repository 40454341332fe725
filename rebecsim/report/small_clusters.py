"""Results of exploring small clusters: broken promises, starts that depend on the order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rebecsim.exploration import Result
from rebecsim.report.verdicts import result_parts, result_to_json
from rebecsim.studies.study import SmallCluster

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

Starts = Mapping[str, Sequence[int]]
"""When each job starts, over all orders of messages; -1: never."""


@dataclass(frozen=True)
class ExploredCluster:
    """A cluster and what was found in it.

    Attributes:
        cluster: what was explored.
        result: whether a promise is broken.
        starts: when jobs start; None if a promise is broken, or a limit was reached.
    """

    cluster: SmallCluster
    result: Result
    starts: Starts | None

    @property
    def differing(self) -> dict[str, Sequence[int]]:
        """The jobs whose start depends on the order of messages."""
        return {job: times for job, times in (self.starts or {}).items() if len(times) > 1}


def cluster_parts(
    scenario: str, found: Mapping[str, ExploredCluster]
) -> Iterator[str | RenderableType]:
    """Give the answer, then a line for each cluster, then what was looked for; at least one."""
    from rich.text import Text

    whats = " or ".join(dict.fromkeys(each.cluster.what for each in found.values()))
    yield Text(f"{scenario}, cut to {whats}: {_answer(found)}.")
    yield ""
    if any(each.starts is not None for each in found.values()):
        yield _table(next(iter(found.values())).cluster, found)
        yield ""
    for each in found.values():
        if each.result.is_violation:
            yield from result_parts(each.result, verbose=False)
            yield ""
    yield "Promises that were looked at, with messages of one time in every order:"
    promises = dict.fromkeys(text for each in found.values() for text in each.cluster.promises)
    yield from (Text(f"- {each}") for each in promises)
    shown = next((name for name, each in found.items() if each.differing), None)
    if shown is not None:
        policy = f"'{shown}'" if " " in shown else shown
        yield f"Both orders as diagrams: `rebecsim races` with `--policy {policy}`."


_BREACHES = {
    "assertion failed": "a promise is broken",
    "deadlock": "not all jobs come to their end",
    "property violated": "the given property does not hold",
}


def _answer(found: Mapping[str, ExploredCluster]) -> str:
    violated = {name: each.result for name, each in found.items() if each.result.is_violation}
    (event, *_) = [each.cluster.event for each in found.values()]
    if violated:
        by_what: dict[str, list[str]] = {}
        for name, result in violated.items():
            by_what.setdefault(_BREACHES.get(result.verdict, result.verdict), []).append(name)
        return "; ".join(f"{what} {_under(names, found)}" for what, names in by_what.items())
    cut_off = [name for name, each in found.items() if each.starts is None]
    if cut_off:
        states = sum(found[name].result.states for name in cut_off)
        messages = dict.fromkeys(found[name].result.message for name in cut_off)
        is_late = all(found[name].result.bounds == ("seconds",) for name in cut_off)
        why = "the time was up" if is_late else " and ".join(messages)
        further = "with `--max-time`"
        if any("horizon" in found[name].result.bounds for name in cut_off):
            why += f" (times are in {found[cut_off[0]].cluster.unit})"
            further = "with a later `--horizon`"
        return (
            f"undecided: no promise is broken in {states:,} states {_under(cut_off, found)}, "
            f"but {why}; search on {further}, or leave fewer jobs or nodes"
        )
    differing = [name for name, each in found.items() if each.differing]
    text = "no promise is broken in any order of messages"
    if not differing:
        return f"{text}, and none changes when a job {event}s"
    return f"{text}; when jobs {event} depends on it {_under(differing, found)}"


def _under(names: Sequence[str], found: Mapping[str, ExploredCluster]) -> str:
    """Name cells of a scenario, if they are few."""
    if len(names) <= _FEW:
        return f"under {', '.join(names)}"
    if len(names) == len(found):
        return f"in all {len(found)} cells"
    return f"in {len(names)} of {len(found)} cells, such as {names[0]}"


_FEW = 4
"""Cells of which each is named in a sentence."""


def _table(cluster: SmallCluster, found: Mapping[str, ExploredCluster]) -> Table:
    """Make a table of jobs and when they start, over all orders, for each cluster."""
    from rich.table import Column, Table
    from rich.text import Text

    title = f"When jobs {cluster.event} ({cluster.unit}), over all orders"
    clusters = (Column(Text(name), justify="right") for name in found)
    shown = Text(title, style="table.title")
    table = Table("Job", *clusters, title=shown, title_justify="left", min_width=40)
    for job in cluster.jobs:
        times = [None if each.starts is None else each.starts[job] for each in found.values()]
        table.add_row(Text(job), *map(_times, times))
    table.add_row("States", *(f"{each.result.states:,}" for each in found.values()))
    return table


def _times(times: Sequence[int] | None) -> str:
    if times is None:
        return "?"
    return " or ".join(f"{time:,}" if time >= 0 else "never" for time in times)


def cluster_to_json(each: ExploredCluster) -> dict[str, Any]:
    """Give a cluster and what was found in it as plain values."""
    return result_to_json(each.result) | {
        "cluster": each.cluster.what,
        "promises": list(each.cluster.promises),
        "starts": None if each.starts is None else dict(each.starts),
    }
