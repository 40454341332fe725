"""The published settings and tables, as they stand in `published.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from rebecsim.clusters.mapreduce.workloads.mix import Pattern


@dataclass(frozen=True, slots=True)
class Experiment:
    """One of the 32 published experiments.

    Attributes:
        number: as published.
        pattern: in which jobs are submitted.
        capacities: of the queues (%).
        capped: whether each queue has its capacity as its maximum.
        factor: how many times the capacity of its queue a user may have.
        percent: of a queue that a user of several is sure of.
    """

    number: int
    pattern: Pattern
    capacities: tuple[int, ...]
    capped: bool
    factor: int
    percent: int

    @property
    def queues(self) -> tuple[str, ...]:
        """Names of the queues."""
        return tuple(f"queue{number}" for number in range(1, len(self.capacities) + 1))

    @property
    def name(self) -> str:
        """What runs of it are called."""
        return f"experiment_{self.number}"


@dataclass(frozen=True, slots=True)
class ExperimentTable:
    """A published table with a column for each experiment.

    Attributes:
        number: as published.
        title: what it shows.
        figure: which of `JOB_FIGURES`.
        queue: of which jobs; empty: of all queues, or a row is a queue.
        experiments: the columns.
        rows: types of jobs, or queues, each with its figures.
        remark: why it is not compared; empty: it is.
    """

    number: str
    title: str
    figure: str
    queue: str
    experiments: tuple[int, ...]
    rows: Mapping[str, tuple[float, ...]]
    remark: str = ""

    @property
    def is_by_queue(self) -> bool:
        """Whether rows are queues."""
        return self.figure == "makespan"


@dataclass(frozen=True, slots=True)
class SmallRun:
    """A published run of the small cluster: its name, what it is in words, makespans by queue."""

    name: str
    description: str
    queues: tuple[float, ...]


@dataclass(frozen=True)
class Published:
    """All that is published.

    Attributes:
        experiments: by number.
        tables: of chapter 6.
        makespans: of table 5.1, by name.
    """

    experiments: Mapping[int, Experiment]
    tables: tuple[ExperimentTable, ...]
    makespans: Mapping[str, SmallRun]


@cache
def published() -> Published:
    """Read what is published."""
    file = resources.files("rebecsim.clusters.mapreduce.reproduction") / "published.toml"
    content = tomllib.loads(file.read_text(encoding="utf-8"))
    return Published(
        {each["number"]: _experiment(each) for each in content["settings"]},
        tuple(_table(each) for each in content["tables"]),
        {
            each["name"]: SmallRun(each["name"], each["description"], tuple(each["queues"]))
            for each in content["makespans"]
        },
    )


def _experiment(entry: Mapping[str, Any]) -> Experiment:
    return Experiment(**{**entry, "capacities": tuple(entry["capacities"])})


def _table(entry: Mapping[str, Any]) -> ExperimentTable:
    return ExperimentTable(
        number=entry["number"],
        title=entry["title"],
        figure=entry["figure"],
        queue=entry.get("queue", ""),
        experiments=tuple(entry["experiments"]),
        rows={name: tuple(map(float, values)) for name, values in entry["rows"].items()},
        remark=entry.get("remark", ""),
    )
