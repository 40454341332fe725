"""The published tables, as in `published.toml`, and figures of experiments by their subject."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from rebecsim.errors import UserError
from reproductions.framework import read_beside


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


@dataclass(frozen=True, slots=True)
class SmallPair:
    """Two runs of the small cluster that differ in one setting, by their names, and this one."""

    before: str
    after: str
    setting: str


@dataclass(frozen=True, slots=True)
class Pairing:
    """How often reduces of a run shared their nodes, as published in tables 5.2 and 5.3.

    Attributes:
        run: its name.
        description: what it is in words.
        real: of each of `JOBS`: of ten runs of the real cluster, in how many its reduce had the
            node for itself, and in how many it shared it.
        simulated: the same for the simulator of the thesis.
    """

    run: str
    description: str
    real: tuple[tuple[int, int], ...]
    simulated: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Stragglers:
    """Maps of a run that straggled, over ten runs, with one and with two reduce slots of a node."""

    run: str
    description: str
    counts: tuple[int, int]


JOBS = tuple((program, f"user{user}") for user in range(1, 5) for program in ("terasort", "sort"))
"""Of the cluster of the validation, in the order of the columns of tables 5.2 and 5.3."""

SENSITIVITY, REAL, SIMULATED, STRAGGLERS = "5.1", "5.2", "5.3", "5.4"
"""Tables of chapter 5."""


@dataclass(frozen=True)
class Published:
    """All that is published.

    Attributes:
        tables: of chapter 6.
        makespans: of table 5.1, by name.
        pairs: of its runs.
        pairings: of tables 5.2 and 5.3, and `shared`, which of the two.
        stragglers: of table 5.4.
    """

    tables: tuple[ExperimentTable, ...]
    makespans: Mapping[str, SmallRun]
    pairs: tuple[SmallPair, ...] = ()
    pairings: tuple[Pairing, ...] = ()
    stragglers: tuple[Stragglers, ...] = ()
    shared: tuple[str, ...] = (REAL, SIMULATED)

    @property
    def numbers(self) -> tuple[str, ...]:
        """Of all tables."""
        small = (SENSITIVITY, REAL, SIMULATED, STRAGGLERS)
        return (*small, *(each.number for each in self.tables))

    def only(self, numbers: Iterable[str]) -> Published:
        """Leave some tables. Raises UserError for one that is not there."""
        chosen = set(numbers)
        if missing := sorted(chosen.difference(self.numbers)):
            raise UserError(
                f"--tables: there is no table {missing[0]!r}; they are {SENSITIVITY} to "
                f"{STRAGGLERS} and {self.tables[0].number} to {self.tables[-1].number}"
            )
        shared = tuple(each for each in self.shared if each in chosen)
        return Published(
            tuple(each for each in self.tables if each.number in chosen),
            self.makespans if SENSITIVITY in chosen else {},
            self.pairs if SENSITIVITY in chosen else (),
            self.pairings if shared else (),
            self.stragglers if STRAGGLERS in chosen else (),
            shared,
        )


@cache
def published() -> Published:
    """Read what is published."""
    content = read_beside(__file__)
    return Published(
        tuple(_table(each) for each in content["tables"]),
        {
            each["name"]: SmallRun(each["name"], each["description"], tuple(each["queues"]))
            for each in content["makespans"]
        },
        tuple(SmallPair(**each) for each in content["pairs"]),
        tuple(
            Pairing(
                each["run"],
                each["description"],
                *(_pairs(each[of]) for of in ("real", "simulated")),
            )
            for each in content["pairings"]
        ),
        tuple(
            Stragglers(each["run"], each["description"], tuple(each["counts"]))
            for each in content["stragglers"]
        ),
    )


@cache
def full_verdicts() -> Mapping[str, str]:
    """Read what became of each statement with all experiments, ten times each."""
    return read_beside(__file__, "verdicts.toml")


def _pairs(cells: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    return tuple((isolated, paired) for isolated, paired in cells)


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


@dataclass(frozen=True, slots=True)
class Key:
    """What a figure is of.

    Attributes:
        figure: its name, of `JOB_FIGURES`.
        experiment: number of the experiment.
        family: of the jobs; empty: all.
        queue: of the jobs; empty: all.
    """

    figure: str
    experiment: int
    family: str = ""
    queue: str = ""


@dataclass(frozen=True)
class Found:
    """Figures of experiments, and of runs of the small cluster.

    Attributes:
        values: figures of experiments; those that were not run are not there.
        makespans: of the queues of runs of table 5.1, by name (s).
        validation: of the runs of section 5.2, by their names (as in slots1_queues), figures of
            `JOB_FIGURES` by name, and these: `at_once`, the most jobs of a queue that ran at a
            time; `stragglers`, maps that took 1.5 times the median of their job, over ten runs;
            `delayed`, the part of the runs with delayed map execution.
        pairings: of the same runs, for each of `published.JOBS` that they have: in how many
            replications its reduce had the node for itself, and in how many it shared it.
    """

    values: Mapping[Key, float]
    makespans: Mapping[str, tuple[float, ...]]
    validation: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    pairings: Mapping[str, Mapping[tuple[str, str], tuple[int, int]]] = field(default_factory=dict)

    def of(self, figure: str, experiment: int, family: str = "", queue: str = "") -> float:
        """Give a figure. Raises KeyError for an experiment that was not run."""
        return self.values[Key(figure, experiment, family, queue)]

    def ran(self, *experiments: int) -> tuple[int, ...]:
        """Leave the experiments that were run."""
        run = {key.experiment for key in self.values}
        return tuple(each for each in experiments if each in run)


def as_found(tables: Published) -> Found:
    """Give the published figures as if they had been found.

    Where a figure of all queues is not published, it is that of the first queue whose figure is.
    """
    values: dict[Key, float] = {}
    for table in tables.tables:
        for name, figures in table.rows.items():
            for experiment, value in zip(table.experiments, figures, strict=True):
                family, queue = ("", name) if table.is_by_queue else (name, table.queue)
                values[Key(table.figure, experiment, family, queue)] = value
                if not table.is_by_queue:
                    values.setdefault(Key(table.figure, experiment, family), value)
    return Found(values, {name: run.queues for name, run in tables.makespans.items()})
