"""Traces of container jobs as tables for the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rich.console import Group
from rich.table import Column, Table
from rich.text import Text

from rebecsim.report.tables import distribution_table, duration_text
from rebecsim.wording import counted
from rebecsim.workloads.container_jobs import NodeLabel, Rack
from rebecsim.workloads.summary import ContainerSummary


def trace_view(name: str, summary: ContainerSummary, more: Sequence[tuple[str, str]] = ()) -> Group:
    """Show what a trace is like: facts first, then where tasks, durations, memory, ... lie.

    `more` are facts of its own form.
    """
    facts = Table(show_header=False, box=None, pad_edge=False)
    for key, value in (*_facts(summary), *more):
        facts.add_row(Text(key), Text(value))
    table = distribution_table(summary.distributions)
    return Group(Text(name, style="bold"), facts, Text(), table)


def topology_view(name: str, racks: Sequence[Rack]) -> Group:
    """Show the nodes of a topology, those that are alike in one row."""
    nodes = [node for rack in racks for node in rack.nodes]
    alike = Counter((each.memory, each.cores, each.labels) for each in nodes)
    labelled = any(labels for _, _, labels in alike)
    columns = ("nodes", "memory (MB)", "cores", "in all (MB)", "in all (cores)")
    table = Table(*(Column(each, justify="right") for each in columns))
    if labelled:
        table.add_column("labels")
    for (memory, cores, labels), count in alike.items():
        amounts = (memory, cores, memory and memory * count, cores and cores * count)
        row = [f"{count:,}", *("not said" if each is None else f"{each:,}" for each in amounts)]
        table.add_row(*row, *([_label_text(labels)] if labelled else []))
    facts = f"{counted(len(nodes), 'node')} in {counted(len(racks), 'rack')}"
    return Group(Text(name, style="bold"), Text(facts), table)


def _label_text(labels: Sequence[NodeLabel]) -> Text:
    return Text(
        ", ".join(each.name + ("" if each.exclusive else " (not exclusive)") for each in labels)
    )


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
