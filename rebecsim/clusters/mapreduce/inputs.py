"""The inputs of a run: its jobs, its scheduler and its cluster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from rebecsim.clusters.mapreduce.cluster import run_mapreduce
from rebecsim.clusters.mapreduce.configuration import MapReduceConfiguration
from rebecsim.clusters.mapreduce.figures.recording import built, recorded
from rebecsim.clusters.mapreduce.figures.tables import RecordedRun
from rebecsim.clusters.mapreduce.job import MapReduceJob
from rebecsim.clusters.mapreduce.requirements import require_runnable
from rebecsim.clusters.mapreduce.scenario import MapReduceScenario, VariantTable
from rebecsim.clusters.mapreduce.schedulers.registry import slot_scheduler
from rebecsim.clusters.mapreduce.schedulers.scheduler import SchedulerSetup
from rebecsim.clusters.mapreduce.tasks.phases import Rates
from rebecsim.clusters.mapreduce.workloads.jobs import workload_jobs
from rebecsim.errors import UserError
from rebecsim.processes import carried
from rebecsim.studies.study import seed_sequence


@dataclass(frozen=True)
class RunSetup:
    """Under what a run is made.

    Attributes:
        scenario: which jobs, on what cluster.
        folder: what paths in it start from.
        name: of the variant.
    """

    scenario: MapReduceScenario
    folder: Path
    name: str

    @property
    def variant(self) -> VariantTable:
        """The scheduler with its settings."""
        return self.scenario.variant(self.name)

    @cached_property
    def scheduler(self) -> SchedulerSetup:
        """What gives slots to tasks. Raises UserError and OSError for a file of settings."""
        variant = self.variant
        chosen = slot_scheduler(variant.scheduler).scheduler
        if variant.file is None:
            return chosen.with_parameters(variant.settings)
        path = self.folder / variant.file
        return chosen.from_file(carried(path), str(path))

    @property
    def configuration(self) -> MapReduceConfiguration:
        """The cluster, and what happens to it."""
        return self.scenario.configuration(self.variant)

    def jobs(self, replication: int) -> tuple[MapReduceJob, ...]:
        """Give the jobs: the same under all variants. Raises WorkloadError and OSError."""
        scenario = self.scenario
        rates = Rates.of(scenario.cluster.hardware())
        return workload_jobs(scenario.workload, self.folder, scenario.seed, replication, rates)

    def recorded(self, replication: int) -> RecordedRun:
        """Run the cluster. Blocks, heartbeats and jitter are the same under all variants."""
        seed = seed_sequence(self.scenario.seed, "cluster", replication, size=8)
        return recorded(
            run_mapreduce(
                self.jobs(replication),
                self.configuration,
                self.scheduler.build,
                int(seed.generate_state(1, np.uint64)[0]),
            ),
            self.scheduler,
            self.scenario.warm_up,
        )

    def require_sense(self) -> Iterator[str]:
        """Refuse what cannot go together; give what has no effect, in words. Raises UserError."""
        jobs, configuration = self.jobs(0), self.configuration
        self.scheduler.require_queues(dict.fromkeys(job.queue for job in jobs))
        require_runnable(jobs, configuration)
        made = built(self.scheduler, configuration)
        for change in sorted(configuration.changes, key=lambda each: each.at):
            # one that may come at any time is tried alone
            tried = made if change.when is None else built(self.scheduler, configuration)
            try:
                tried.change(change.parameters, change.at)
            except UserError as error:
                raise UserError(f"{self.name}: changes: {error}") from error
        yield from self.scheduler.without_effect
