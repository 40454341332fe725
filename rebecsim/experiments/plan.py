"""What a scenario comes to: one cell for each generated model, with seeds of its own."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rebecsim.cluster import (
    ClusterConfiguration,
    Configuration,
    NatjamConfiguration,
    busy_time_variables,
    natjam_source,
    rebeca_source,
)
from rebecsim.cluster.natjam import NATJAM_COUNTERS
from rebecsim.experiments.moments import Cell
from rebecsim.experiments.scenario import Scenario
from rebecsim.metrics import DISPATCH_METRICS, Metric
from rebecsim.metrics.natjam import NATJAM_METRICS
from rebecsim.simulate import Observation

__all__ = ["COUNTERS", "Plan", "PlannedCell", "cell_key", "plan_scenario"]

COUNTERS = {
    "queue_misses": "m_queue_misses",
    "update_misses": "m_update_misses",
    "completions": "m_jobs_complete",
    "drops": "m_dropped_jobs",
}
"""Columns of the results of a dispatch model, and the state variables of the ResourceManager they
are read from; those of an eviction model are `NATJAM_COUNTERS`."""

_MANAGER = "rm"
_TICK = "checkQueue"

_CHOICE = re.compile(r"\?\([^)]*,")
"""A choice between two alternatives or more."""


@dataclass(frozen=True)
class PlannedCell:
    """One model to simulate: its coordinates, configuration and the key of its random streams."""

    cell: Cell
    configuration: ClusterConfiguration
    key: tuple[int, int]

    @property
    def name(self) -> str:
        """The stem of the cell's files."""
        return self.configuration.file_stem

    @property
    def counters(self) -> Mapping[str, str]:
        """What is counted in each run: column of the results -> state variable it is read from.

        Columns `busy_am1`, ... are the time units in which each AppMaster was busy, in models
        that count them.
        """
        match self.configuration:
            case NatjamConfiguration():
                return NATJAM_COUNTERS
            case Configuration(horizon=None):
                return COUNTERS
        variables = busy_time_variables(self.configuration.app_masters)
        busy = {f"busy_am{number}": name for number, name in enumerate(variables, start=1)}
        return COUNTERS | busy

    @property
    def observation(self) -> Observation:
        """What to read from each run."""
        return Observation(_MANAGER, tuple(self.counters.values()), _TICK)

    def source(self) -> str:
        """Render the cell's model as Timed Rebeca."""
        if isinstance(self.configuration, NatjamConfiguration):
            return natjam_source(self.configuration)
        assert isinstance(self.configuration, Configuration)
        return rebeca_source(self.configuration)


@dataclass(frozen=True)
class Plan:
    """The cells of a scenario, and what to read from each run."""

    scenario: Scenario
    cells: tuple[PlannedCell, ...]

    @property
    def counters(self) -> Mapping[str, str]:
        """What is counted in any of the cells: column of the results -> state variable."""
        return {name: read for cell in self.cells for name, read in cell.counters.items()}

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The figures that policies of this kind are compared by, the most important one first."""
        return DISPATCH_METRICS if self.scenario.eviction is None else NATJAM_METRICS

    @property
    def has_chance(self) -> bool:
        """Whether anything is drawn: the order of messages, or a choice in some model."""
        if self.scenario.order == "random":
            return True
        return any(_CHOICE.search(cell.source()) for cell in self.cells)

    @property
    def until(self) -> int:
        """The last time at which messages are served: that of the last tick."""
        return self.scenario.ticks - 1


def plan_scenario(scenario: Scenario) -> Plan:
    """Lay out the cells of a scenario: policy x arrivals x lengths x cluster size."""
    return Plan(
        scenario,
        tuple(
            PlannedCell(_cell(configuration), configuration, cell_key(scenario.seed, configuration))
            for configuration in scenario.configurations()
        ),
    )


def _cell(configuration: ClusterConfiguration) -> Cell:
    return Cell(
        policy=configuration.policy,
        arrivals=configuration.arrivals.label,
        lengths=configuration.lengths.label,
        app_masters=configuration.app_masters,
    )


def cell_key(seed: int, configuration: ClusterConfiguration) -> tuple[int, int]:
    """Give the key of a cell's random streams: two 64-bit words of a child of the seed.

    The child is spawned by the coordinates of the workload, not by position, so that a cell gives
    the same results in whichever scenario it stands. The policy is no coordinate: all policies
    see the same jobs (common random numbers).
    """
    coordinates = json.dumps(
        [
            configuration.arrivals.model_dump(mode="json"),
            configuration.lengths.model_dump(mode="json"),
            configuration.app_masters,
        ],
        sort_keys=True,
    )
    digest = hashlib.blake2b(coordinates.encode(), digest_size=16).digest()
    words = tuple(int(word) for word in np.frombuffer(digest, dtype="<u4"))
    sequence = np.random.SeedSequence(seed, spawn_key=words)
    first, second = sequence.generate_state(2, np.uint64)
    return int(first), int(second)
