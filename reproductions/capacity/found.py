"""Figures of experiments by their subject: ours, or those of the published tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from reproductions.capacity.published import Published


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
