"""Traces of container jobs as tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group
from rich.table import Table
from rich.text import Text

from rebecsim.report.distributions import distribution_table, duration_text
from rebecsim.workloads.containers.summary import ContainerSummary


def trace_view(name: str, summary: ContainerSummary, more: Sequence[tuple[str, str]] = ()) -> Group:
    """Show what a trace is like: facts first, then where tasks, durations, memory, ... lie.

    `more` are facts of its own form.
    """
    facts = Table(show_header=False, box=None, pad_edge=False)
    for key, value in (*_facts(summary), *more):
        facts.add_row(Text(key), Text(value))
    table = distribution_table(summary.distributions)
    return Group(Text(name, style="bold"), facts, Text(), table)


def _facts(summary: ContainerSummary) -> Iterator[tuple[str, str]]:
    yield "jobs", f"{summary.jobs:,}"
    if summary.waiting:
        yield "jobs that wait", f"{summary.waiting:,}, for another to finish"
    yield (
        "tasks",
        (f"{summary.maps + summary.reduces:,}: {summary.maps:,} maps, {summary.reduces:,} reduces"),
    )
    yield "submitted over", (f"{duration_text(summary.span / 1000)} ({summary.span / 1000:,.0f} s)")
    yield "memory", f"{summary.memory_hours:,.1f} GB hours"
    yield "cores", f"{summary.core_hours:,.1f} core hours"
    yield "users", f"{summary.users:,}"
    yield "queues", f"{summary.queues:,}"
    if summary.labels:
        yield "labels", ", ".join(summary.labels)
    if summary.elastic:
        yield "elastic tasks", f"{summary.elastic:,} with a penalty of their own for less memory"
