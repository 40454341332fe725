"""The kind `slurm` as a study: runs of a log under configurations, their figures and jobs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rebecsim.clusters.kit.measures import Record, RecordedStudy, given
from rebecsim.clusters.slurm.configuration import Cluster
from rebecsim.clusters.slurm.files.log_files import SlurmLog, read_log
from rebecsim.clusters.slurm.files.settings import Setting, unsupported
from rebecsim.clusters.slurm.files.site import SiteFiles
from rebecsim.clusters.slurm.jobs import Job
from rebecsim.clusters.slurm.results import (
    JOB_COLUMNS,
    JOBS,
    SLURM_MEASURES,
    JudgedRun,
    run_figures,
)
from rebecsim.clusters.slurm.run import run_cluster
from rebecsim.clusters.slurm.scenario import Settings, SlurmScenario
from rebecsim.clusters.slurm.small import small_cluster
from rebecsim.files import RunSize
from rebecsim.metrics import Metric
from rebecsim.processes import carried, version_of
from rebecsim.studies.cells import Cell, Section
from rebecsim.studies.moments import CellMoments
from rebecsim.studies.plan import Plan
from rebecsim.studies.scenario import StudyScenario
from rebecsim.studies.scenario_files import FieldPath
from rebecsim.studies.study import Cut, How, PlannedCell, SmallCluster, seed_of

if TYPE_CHECKING:
    from rebecsim.studies.results import Results

_FILES = ("log", "gres", "topology", "accounts", "qos", "shares", "reservations")

_SECONDS_A_JOB, _BYTES_A_JOB = 0.003, 2500


@dataclass(frozen=True)
class SlurmSetup:
    """Under what a log is run: the scenario, its folder, and the coordinates of the cell."""

    scenario: SlurmScenario
    folder: Path
    conf: str
    load_factor: float
    run_time_error: float | None

    def read(self) -> tuple[Cluster, SlurmLog, tuple[Setting, ...]]:
        """Read all files. Raises SlurmFileError and OSError."""
        given = self.scenario
        paths = {name: self._path(getattr(given, name)) for name in _FILES}
        log = paths.pop("log")
        conf = self._path(self.conf)
        assert conf is not None
        assert log is not None
        files = SiteFiles(conf=conf, lines=given.settings.lines, **paths)
        versions = tuple(version_of(each) for each in (conf, log))
        cluster, read, settings = _read(files, log, versions)
        return with_settings(cluster, given.settings), read, settings

    def _path(self, name: str | None) -> Path | None:
        return None if name is None else carried(self.folder / name)

    def jobs(self, log: SlurmLog, replication: int) -> Sequence[Job]:
        """Give the jobs, submitted faster and with other run times where that is asked for."""
        jobs: Sequence[Job] = log.jobs
        if self.load_factor != 1 and jobs:
            first = jobs[0].submit
            jobs = [_sooner(each, first, self.load_factor) for each in jobs]
        if self.run_time_error is not None:
            seed = seed_of(self.scenario.seed, "run times", replication)
            drawn = np.random.default_rng(seed).uniform(-1, 1, len(jobs))
            factors = (1 + self.run_time_error) ** drawn
            jobs = [
                replace(each, run=max(round(each.run * factor), 1))
                for each, factor in zip(jobs, factors.tolist(), strict=True)
            ]
        return jobs


def _sooner(job: Job, first: int, factor: float) -> Job:
    submit = first + round((job.submit - first) / factor)
    return replace(job, submit=submit, begin=max(job.begin - job.submit + submit, 0))


@lru_cache(maxsize=4)  # replications of a cell come one after the other
def _read(
    files: SiteFiles, log: Path, _versions: object
) -> tuple[Cluster, SlurmLog, tuple[Setting, ...]]:
    cluster, settings = files.read()
    return cluster, read_log(log, cluster), settings


def with_settings(cluster: Cluster, given: Settings) -> Cluster:
    """Put the settings of a scenario in the place of those of the files."""
    said = {name: value for name, value in given.model_dump().items() if value is not None}
    main = {name: said[name] for name in ("sched_interval", "default_queue_depth") if name in said}
    backfill = {name: value for name, value in said.items() if name.startswith("bf_")}
    if "bf_window" in backfill:
        backfill["bf_window"] *= 60
    weights = {
        name.removeprefix("weight_"): value
        for name, value in said.items()
        if name.startswith("weight_")
    }
    times = {name: 60 * said[name] for name in ("max_age", "decay_half_life") if name in said}
    priority = cluster.priority
    return replace(
        cluster,
        main=replace(cluster.main, **main),
        backfilling=replace(cluster.backfilling, **backfill),
        priority=replace(priority, weights=replace(priority.weights, **weights), **times),
    )


def _small(cell: PlannedCell, cut: Cut) -> SmallCluster:
    """Cut the cluster and the jobs of a cell."""
    setup: SlurmSetup = cell.setup
    cluster, log, _ = setup.read()
    return small_cluster(cluster, setup.jobs(log, 0), Path(setup.conf).stem, cut)


class SlurmStudy(RecordedStudy):
    """Configurations of Slurm, compared on a log."""

    kind: ClassVar[str] = "slurm"
    question: ClassVar[str] = "Slurm: who waits under a changed slurm.conf?"
    scenario: ClassVar[type[StudyScenario]] = SlurmScenario
    separate: ClassVar[tuple[str, ...]] = ("load_factor", "run_times")
    modules: ClassVar[tuple[str, ...]] = (__name__,)
    small = staticmethod(_small)

    def cells(self, scenario: SlurmScenario, folder: Path) -> Iterator[PlannedCell]:
        """Lay out the cells: configuration x load factor x error of run times."""
        columns = self.columns(scenario)
        errors: Sequence[float | None] = scenario.run_time_errors or (None,)
        for conf, factor, error in itertools.product(scenario.confs, scenario.load_factors, errors):
            told = "logged" if error is None else f"error {error:g}"
            stem = conf.replace("/", "_").removesuffix(".conf").lower()
            yield PlannedCell(
                cell=Cell.of(conf, load_factor=factor, run_times=told),
                name=f"{stem}_load{factor:g}_{told.replace(' ', '')}",
                columns=columns,
                setup=SlurmSetup(scenario, folder, conf, factor, error),
                most=1 if error is None else None,
                is_random=error is not None,
            )

    def record(self, cell: PlannedCell, replication: int) -> Record:
        """Run the log. Raises SlurmFileError and OSError."""
        setup: SlurmSetup = cell.setup
        cluster, log, _ = setup.read()
        judged = JudgedRun(run_cluster(cluster, setup.jobs(log, replication)), cluster)
        return run_figures(judged), {JOBS: judged.table()}

    def kept(self, scenario: SlurmScenario) -> tuple[Metric, ...]:
        """Give all figures."""
        return given(SLURM_MEASURES, ())

    def tables(self, scenario: SlurmScenario, trace: bool) -> Mapping[str, Mapping[str, str]]:
        """Keep the jobs of every run."""
        return {JOBS: JOB_COLUMNS}

    def files(self, scenario: SlurmScenario) -> Mapping[FieldPath, str]:
        """Name the log, the configurations and what stands beside them."""
        named: dict[FieldPath, str] = {
            (name,): getattr(scenario, name)
            for name in _FILES
            if getattr(scenario, name) is not None
        }
        return named | {("confs", number): conf for number, conf in enumerate(scenario.confs)}

    def size(self, cell: PlannedCell, replications: int) -> RunSize:
        """Estimate a run by its jobs."""
        setup: SlurmSetup = cell.setup
        count = len(setup.read()[1].jobs)
        return RunSize(count, 0, count * _SECONDS_A_JOB, count * _BYTES_A_JOB)

    def prepare(self, plan: Plan, how: How, tell: Callable[[str], None]) -> None:
        """Read all files once; say what is not simulated, and what had to be guessed."""
        for cell in plan.cells:
            setup: SlurmSetup = cell.setup
            _, log, settings = setup.read()
            for each in unsupported(settings):
                tell(f"{each.file}:{each.line}: {each.key} is not simulated: {each.note}")
            for note in log.notes:
                tell(note)
            if setup.conf == plan.scenario.confs[-1]:
                break

    def sections(
        self, plan: Plan, results: Results, moments: Sequence[CellMoments]
    ) -> Sequence[Section]:
        """Say who waits longer."""
        from rebecsim.clusters.slurm.report import slurm_sections

        return slurm_sections(plan, results)


STUDY = SlurmStudy()
