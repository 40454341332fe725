"""What a scenario comes to: one cell for each generated model, with seeds of its own."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

import numpy as np

from rebecsim.cluster import Configuration, rebeca_source
from rebecsim.experiments.moments import Cell
from rebecsim.experiments.scenario import Scenario
from rebecsim.simulate import Observation

__all__ = ["COUNTERS", "Plan", "PlannedCell", "cell_key", "plan_scenario"]

COUNTERS = {
    "queue_misses": "m_queue_misses",
    "update_misses": "m_update_misses",
    "completions": "m_jobs_complete",
    "drops": "m_dropped_jobs",
}
"""Columns of the results, and the state variables of the ResourceManager they are read from."""

_MANAGER = "rm"


@dataclass(frozen=True)
class PlannedCell:
    """One model to simulate: its coordinates, configuration and the key of its random streams."""

    cell: Cell
    configuration: Configuration
    key: tuple[int, int]

    @property
    def name(self) -> str:
        """The stem of the cell's files."""
        return self.configuration.file_stem

    def source(self) -> str:
        """Render the cell's model as Timed Rebeca."""
        return rebeca_source(self.configuration)


@dataclass(frozen=True)
class Plan:
    """The cells of a scenario, and what to read from each run."""

    scenario: Scenario
    cells: tuple[PlannedCell, ...]

    @property
    def observation(self) -> Observation:
        """What to read from each run: the counters of the ResourceManager."""
        return Observation(_MANAGER, tuple(COUNTERS.values()))

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


def _cell(configuration: Configuration) -> Cell:
    return Cell(
        policy=configuration.policy,
        arrivals=configuration.arrivals.label,
        lengths=configuration.lengths.label,
        app_masters=configuration.app_masters,
    )


def cell_key(seed: int, configuration: Configuration) -> tuple[int, int]:
    """Give the key of a cell's random streams: two 64-bit words of a child of the seed.

    The child is spawned by the coordinates of the workload, not by position, so that a cell gives
    the same results in whichever scenario it stands. The policy is no coordinate: all policies
    see the same arrivals, lengths and orders (common random numbers).
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
