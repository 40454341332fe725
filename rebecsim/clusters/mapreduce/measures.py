"""The figures by which runs of MapReduce clusters are compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from rebecsim.clusters.mapreduce.columns import (
    JOB_FIGURES,
    OUTCOMES,
    AttemptColumns,
    JobColumns,
    throughput,
)
from rebecsim.metrics import Metric

Better = Literal["lower", "higher", "neither"]
Telling = Literal["always", "backups", "failures", "racks", "warm_up", "asked"]

_SECOND = 1_000_000


@dataclass(frozen=True, eq=False)
class MeasuredRun:
    """A run, as figures are computed from it.

    Attributes:
        jobs: those that have ended, by their numbers.
        attempts: of all jobs.
        slots: how many there are, of maps and of reduces.
        use: means of what the devices were used, by name (%), from `begin` on.
        rejected: jobs that were not accepted.
        warm_up: the share of the jobs, by submission, that do not count.
    """

    jobs: JobColumns
    attempts: AttemptColumns
    slots: tuple[int, int]
    use: Mapping[str, float]
    rejected: int = 0
    warm_up: float = 0.0

    @cached_property
    def counted(self) -> JobColumns:
        """The jobs that count."""
        return self.jobs.only(self.jobs.after_warm_up(self.warm_up)) if self.warm_up else self.jobs

    @property
    def begin(self) -> int:
        """When slots and devices begin to count (microseconds)."""
        return begin_of_counted(self.jobs, self.warm_up)

    def slot_use(self, kind: int) -> float:
        """Give what part of the slots of a kind was held, until the last job ended (%)."""
        begin = self.begin
        most = self.slots[kind] * (JOB_FIGURES["makespan"](self.jobs) - begin / _SECOND)
        return 100 * self.attempts.slot_time(kind, begin) / most if most > 0 else 0.0


def begin_of_counted(jobs: JobColumns, warm_up: float) -> int:
    """Give when the first job that counts is submitted; without a warm-up, 0 (microseconds)."""
    return int(jobs.submit[jobs.after_warm_up(warm_up)].min()) if warm_up and len(jobs) else 0


@dataclass(frozen=True, slots=True)
class MapReduceMeasure:
    """One figure of a run.

    Attributes:
        metric: what it is; each run has one value of it.
        of: gives the value.
        telling: whether it is shown where a scenario does not say which figures it wants: always,
            or only with second attempts, with failures, with a warm-up, or where there are several
            racks.
    """

    metric: Metric
    of: Callable[[MeasuredRun], float]
    telling: Telling = "always"


def _of_jobs(
    name: str, title: str, unit: str, note: str, better: Better = "lower", decimals: int = 1
) -> MapReduceMeasure:
    figure = JOB_FIGURES[name]
    metric = Metric(
        name, title, unit, better, {name: 1}, note=note, decimals=decimals, measured=True
    )
    return MapReduceMeasure(metric, lambda run: figure(run.counted))


def _measure(
    name: str,
    title: str,
    unit: str,
    note: str,
    of: Callable[[MeasuredRun], float],
    *,
    better: Better = "higher",
    telling: Telling = "always",
) -> MapReduceMeasure:
    metric = Metric(name, title, unit, better, {name: 1}, note=note, decimals=1, measured=True)
    return MapReduceMeasure(metric, of, telling)


def _use(device: str) -> Callable[[MeasuredRun], float]:
    return lambda run: run.use.get(device, 0.0)


def _with_outcome(name: str) -> Callable[[MeasuredRun], float]:
    code = OUTCOMES.index(name)
    return lambda run: float((run.attempts.outcome == code).sum())


MAPREDUCE_MEASURES: tuple[MapReduceMeasure, ...] = (
    _of_jobs(
        "response_ratio",
        "Response ratio",
        "",
        "From submission to end, over the time from the first map on; mean over the jobs.",
        decimals=2,
    ),
    _of_jobs(
        "pooled_ratio",
        "Response ratio, of means",
        "",
        "Mean time from submission to end, over the mean time from the first map on.",
        decimals=2,
    ),
    _of_jobs("elapsed", "Job duration", "s", "From submission to end, mean over the jobs."),
    _of_jobs("waiting", "Waiting", "s", "From submission to the slot of the first map, mean."),
    _of_jobs("execution", "Execution", "s", "From the slot of the first map to the end, mean."),
    _of_jobs("map_time", "Map time", "s", "From the first map's slot to the last map's end, mean."),
    _of_jobs(
        "reduce_time",
        "Reduce time",
        "s",
        "From the first reduce's slot to the end, mean; it overlaps with the map time.",
    ),
    _of_jobs("makespan", "Makespan", "s", "From the beginning to the end of the last job."),
    _measure(
        "throughput",
        "Throughput",
        "jobs/h",
        "Jobs that end, from the first submission to the last end.",
        lambda run: throughput(run.counted),
        telling="warm_up",
    ),
    _of_jobs(
        "node_local",
        "Node-local maps",
        "%",
        "Maps that ran where a replica of their split is.",
        "higher",
    ),
    _measure(
        "rack_local",
        "Rack-local maps",
        "%",
        "Maps that ran on another node of the rack of a replica.",
        lambda run: JOB_FIGURES["rack_local"](run.counted),
        better="neither",
        telling="racks",
    ),
    _measure(
        "remote",
        "Remote maps",
        "%",
        "Maps that ran in a rack without a replica.",
        lambda run: JOB_FIGURES["remote"](run.counted),
        better="lower",
        telling="racks",
    ),
    _measure(
        "map_slots",
        "Map slots held",
        "%",
        "By attempts of maps, until the last job ended.",
        lambda run: run.slot_use(0),
    ),
    _measure(
        "reduce_slots",
        "Reduce slots held",
        "%",
        "By attempts of reduces, whether they work or wait for maps.",
        lambda run: run.slot_use(1),
        better="neither",
    ),
    _measure("processors", "Processors used", "%", "Mean over nodes and time.", _use("processor")),
    _measure("disks", "Disks used", "%", "Mean over nodes and time.", _use("disk")),
    _measure(
        "links", "Links used", "%", "Of nodes, both ways; mean over nodes and time.", _use("link")
    ),
    _measure(
        "backups",
        "Second attempts",
        "",
        "Of tasks of which another attempt ran.",
        lambda run: float(run.attempts.launched_backups),
        better="neither",
        telling="backups",
    ),
    _measure(
        "useful_backups",
        "Useful second attempts",
        "",
        "Those that ended before the first attempt.",
        lambda run: float(run.attempts.useful_backups),
        telling="backups",
    ),
    _measure(
        "wasted_backups",
        "Wasted second attempts",
        "",
        "The others.",
        lambda run: float(run.attempts.launched_backups - run.attempts.useful_backups),
        better="lower",
        telling="backups",
    ),
    _measure(
        "lost",
        "Attempts lost",
        "",
        "With the nodes that they ran on.",
        _with_outcome("lost"),
        better="lower",
        telling="failures",
    ),
    _measure(
        "rejected",
        "Jobs rejected",
        "",
        "Those that the scheduler did not accept; other figures are of the others.",
        lambda run: float(run.rejected),
        better="lower",
        telling="asked",
    ),
)
"""All figures, in the order of tables."""


def run_figures(run: MeasuredRun) -> dict[str, float]:
    """Compute the figures of a run, by their names."""
    return {each.metric.name: each.of(run) for each in MAPREDUCE_MEASURES}
