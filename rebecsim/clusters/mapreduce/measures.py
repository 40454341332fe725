"""Measures by which runs of MapReduce clusters are compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from rebecsim.clusters.kit.measures import Better, Measure, figures_of, measure, measures_of
from rebecsim.clusters.mapreduce.columns import (
    JOB_FIGURES,
    OUTCOMES,
    AttemptColumns,
    JobColumns,
    throughput,
)
from rebecsim.clusters.mapreduce.job import SECOND

NEEDS = ("backups", "failures", "racks", "warm_up", "asked")
"""What a measure needs in the scenario to be shown."""


def _of_jobs(
    name: str,
    title: str,
    unit: str,
    note: str,
    better: Better = "lower",
    *,
    decimals: int = 1,
    needs: str = "",
) -> Measure:
    figure = JOB_FIGURES[name]
    return Measure(
        *(lambda run: figure(run.counted), title, unit, note, better),
        decimals=decimals,
        needs=needs,
    )


def begin_of_counted(jobs: JobColumns, warm_up: float) -> int:
    """Return the submission of the first job that counts (microseconds), 0 without a warm-up."""
    return int(jobs.submit[jobs.after_warm_up(warm_up)].min()) if warm_up and len(jobs) else 0


@dataclass(frozen=True, eq=False)
class MeasuredRun:
    """A run, and its figures in the order of tables.

    Attributes:
        jobs: those that have ended, by their numbers.
        attempts: of all jobs.
        slots: how many there are, of maps and of reduces.
        use: means of what the devices were used, by name (%), from `begin` on.
        refused: jobs that were not accepted.
        warm_up: the share of the jobs, by submission, that do not count.
    """

    jobs: JobColumns
    attempts: AttemptColumns
    slots: tuple[int, int]
    use: Mapping[str, float]
    refused: int = 0
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
        """Return the share of slots of a kind that were held, until the last job ended (%)."""
        begin = self.begin
        most = self.slots[kind] * (JOB_FIGURES["makespan"](self.jobs) - begin / SECOND)
        return 100 * self.attempts.slot_time(kind, begin) / most if most > 0 else 0.0

    response_ratio = _of_jobs(
        *("response_ratio", "Response ratio", ""),
        "From submission to end, over the time from the first map on; mean over the jobs.",
        decimals=2,
    )
    pooled_ratio = _of_jobs(
        *("pooled_ratio", "Response ratio, of means", ""),
        "Mean time from submission to end, over the mean time from the first map on.",
        decimals=2,
    )
    elapsed = _of_jobs(
        "elapsed", "Job duration", "s", "From submission to end, mean over the jobs."
    )
    waiting = _of_jobs(
        "waiting", "Waiting", "s", "From submission to the slot of the first map, mean."
    )
    execution = _of_jobs(
        "execution", "Execution", "s", "From the slot of the first map to the end, mean."
    )
    map_time = _of_jobs(
        "map_time", "Map time", "s", "From the first map's slot to the last map's end, mean."
    )
    reduce_time = _of_jobs(
        *("reduce_time", "Reduce time", "s"),
        "From the first reduce's slot to the end, mean; it overlaps with the map time.",
    )
    makespan = _of_jobs(
        "makespan", "Makespan", "s", "From the beginning to the end of the last job."
    )

    @measure("Throughput", "jobs/h", "higher", needs="warm_up")
    def throughput(self) -> float:
        """Jobs that end, from the first submission to the last end."""
        return throughput(self.counted)

    node_local = _of_jobs(
        *("node_local", "Node-local maps", "%"),
        "Maps that ran where a replica of their split is.",
        "higher",
    )
    rack_local = _of_jobs(
        *("rack_local", "Rack-local maps", "%"),
        "Maps that ran on another node of the rack of a replica.",
        "neither",
        needs="racks",
    )
    remote = _of_jobs(
        *("remote", "Remote maps", "%"), "Maps that ran in a rack without a replica.", needs="racks"
    )

    @measure("Map slots held", "%", "higher")
    def map_slots(self) -> float:
        """Share of map slots held by attempts, until the last job ended."""
        return self.slot_use(0)

    @measure("Reduce slots held", "%", "neither")
    def reduce_slots(self) -> float:
        """Share of reduce slots held by attempts, which may work or wait for maps."""
        return self.slot_use(1)

    @measure("Processors used", "%", "higher")
    def processors(self) -> float:
        """Mean over nodes and time."""
        return self.use.get("processor", 0.0)

    @measure("Disks used", "%", "higher")
    def disks(self) -> float:
        """Mean over nodes and time."""
        return self.use.get("disk", 0.0)

    @measure("Links used", "%", "higher")
    def links(self) -> float:
        """Use of the nodes' links, both ways; mean over nodes and time."""
        return self.use.get("link", 0.0)

    @measure("Second attempts", "", "neither", needs="backups")
    def backups(self) -> float:
        """Attempts that started while another attempt of the task ran."""
        return float(self.attempts.launched_backups)

    @measure("Useful second attempts", "", "higher", needs="backups")
    def useful_backups(self) -> float:
        """Second attempts that ended before the first."""
        return float(self.attempts.useful_backups)

    @measure("Wasted second attempts", needs="backups")
    def wasted_backups(self) -> float:
        """Second attempts that did not end first."""
        return float(self.attempts.launched_backups - self.attempts.useful_backups)

    @measure("Attempts lost", needs="failures")
    def lost(self) -> float:
        """Attempts lost by failures of their nodes."""
        return float((self.attempts.outcome == OUTCOMES.index("lost")).sum())

    @measure("Jobs rejected", needs="asked")
    def rejected(self) -> float:
        """Jobs that the scheduler did not accept; other measures leave them out."""
        return float(self.refused)


MAPREDUCE_MEASURES = measures_of(MeasuredRun)
"""All figures, in the order of tables."""


FAMILY_FIGURES: Mapping[str, tuple[str, str, int]] = {
    "response_ratio": ("Response ratio", "", 2),
    "elapsed": ("Duration", "s", 1),
    "waiting": ("Waiting", "s", 1),
    "execution": ("Execution", "s", 1),
    "map_time": ("Map time", "s", 1),
    "reduce_time": ("Reduce time", "s", 1),
    "variation": ("Variation of execution", "", 2),
    "node_local": ("Node-local maps", "%", 1),
    "rack_local": ("Rack-local maps", "%", 1),
    "remote": ("Remote maps", "%", 1),
}
"""Figures of some jobs that tables by family and queue show: title, unit, decimals."""


def family_figure(name: str, jobs: JobColumns) -> str:
    """Write a figure of some jobs; nothing where there are none."""
    decimals = FAMILY_FIGURES[name][2]
    return f"{JOB_FIGURES[name](jobs):,.{decimals}f}" if len(jobs) else ""


def family_title(name: str) -> str:
    """Return the heading of a figure, with its unit."""
    title, unit, _ = FAMILY_FIGURES[name]
    return f"{title} ({unit})" if unit else title


def run_figures(run: MeasuredRun) -> dict[str, float]:
    """Compute the figures of a run, by their names."""
    return figures_of(MAPREDUCE_MEASURES, run, NEEDS)
