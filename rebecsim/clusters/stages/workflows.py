"""Scientific workflows: CyberShake, LIGO Inspiral, Epigenomics, and workflows read from files.

Random workflows have about 30, 50 or 100 tasks. Structures and times follow Bharathi et al. (2008)
and the generator that belongs to that paper. Times are truncated normal, within half of the mean on
either side, and rounded up to whole seconds: this gives the mean work of CyberShake and LIGO that
the evaluation of WFBB-RM publishes.

Phases are the execution phases of that evaluation, which follow one another.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import ceil
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rebecsim.clusters.stages.job import SECOND, StageTask
from rebecsim.errors import UserError
from rebecsim.workloads.workflows import WorkflowTask, parents_first, read_dax, read_wfcommons

SIZES = {"small": 30, "medium": 50, "large": 100}
"""Number of tasks by size name; the structures come close to it."""

_GIBIBYTE = 2**30


def truncated_normal(
    draws: np.random.Generator, mean: float, variance: float, count: int
) -> NDArray[np.float64]:
    """Draw from a normal distribution truncated to [0.5, 1.5] times the mean."""
    from scipy.special import ndtr, ndtri

    deviation = variance**0.5
    cut = ndtr(0.5 * mean / deviation)
    uniform = draws.uniform(1 - cut, cut, count)
    return np.asarray(mean + deviation * ndtri(uniform))


def halves(draws: np.random.Generator, count: int, tolerance: float) -> tuple[int, int]:
    """Split a number into two parts of about equal size, the smaller first."""
    first = int(count // 2 * (1 + tolerance / 2 * draws.uniform(-1, 1)))
    return min(first, count - first), max(first, count - first)


class TaskList:
    """Builder of a workflow's tasks."""

    def __init__(self) -> None:
        self.tasks: list[StageTask] = []

    def add(self, name: str, seconds: float, parents: Sequence[int], phase: int) -> int:
        """Add a task of whole seconds, or a dummy of 0 s; return its number."""
        number, duration = len(self.tasks), ceil(seconds) * SECOND
        self.tasks.append(StageTask(number, duration, tuple(parents), phase=phase, name=name))
        return number


class Workflow(ABC):
    """A family of workflows in one run.

    Attributes:
        name: name in scenarios.
        title: name in words.
        varies: whether runs depend on their quantile.
        place: quantile of the run, in [0, 1), which sets what all of its workflows share.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    varies: ClassVar[bool] = False

    def __init__(self, place: float) -> None:
        self.place = place

    @abstractmethod
    def tasks(self, draws: np.random.Generator, size: int) -> tuple[StageTask, ...]:
        """Draw the tasks of a workflow of about this size."""


class CyberShake(Workflow):
    """Seismic hazard: two extractions, seismograms from each, a peak value from each of these."""

    name: ClassVar[str] = "cybershake"
    title: ClassVar[str] = "CyberShake"

    def tasks(self, draws: np.random.Generator, size: int) -> tuple[StageTask, ...]:
        """Draw the tasks: (size - 4) / 2 seismograms, about half of them from each extraction."""
        found, count = TaskList(), (size - 4) // 2
        extracting = truncated_normal(draws, 137.45, 42681, 2)
        making = truncated_normal(draws, 43.40, 984.4, count)
        peaking = truncated_normal(draws, 1.09, 3.71, count)
        of_first, _ = halves(draws, count, 0.25)
        extractions = [found.add("ExtractSGT", each, (), 1) for each in extracting]
        seismograms = [
            found.add("SeismogramSynthesis", each, (extractions[place >= of_first],), 2)
            for place, each in enumerate(making)
        ]
        found.add("ZipSeis", 0, seismograms, 3)
        peaks = [
            found.add("PeakValCalcOkaya", each, (parent,), 4)
            for each, parent in zip(peaking, seismograms, strict=True)
        ]
        found.add("ZipPSA", 0, peaks, 5)
        return tuple(found.tasks)


class Ligo(Workflow):
    """Gravitational waves: waveforms, each analysed, compared in blocks, and analysed again."""

    name: ClassVar[str] = "ligo"
    title: ClassVar[str] = "LIGO Inspiral"

    def tasks(self, draws: np.random.Generator, size: int) -> tuple[StageTask, ...]:
        """Draw the tasks: two for each waveform before and after the first comparisons.

        There are 1 or 2 comparisons, 2 to 4 for 100 tasks, and as many at the end.
        """
        blocks = int(draws.integers(1, max(3, size // 20)))
        if blocks == 1 and (size - 2) % 4:
            blocks = 2
        while True:
            before, behind = halves(draws, (size - 2 * blocks) // 2, 0.1)
            edges = int(draws.integers(behind, max(int(1.05 * behind), behind + 1)))
            if edges <= blocks * before:
                break
        found, shares = TaskList(), _shares(draws, blocks, edges, before)
        upper = self._analysed(draws, found, "TmpltBank", [()] * before, 1)
        first = self._compared(draws, found, upper, shares, 3)
        gates: list[list[int]] = [[] for _ in range(behind)]
        for comparison, places in zip(first, _blocks(shares, behind), strict=True):
            for place in places:
                gates[place].append(comparison)
        lower = self._analysed(draws, found, "TrigBank", gates, 4)
        self._compared(draws, found, lower, shares, 6)
        return tuple(found.tasks)

    def _analysed(
        self,
        draws: np.random.Generator,
        found: TaskList,
        bank: str,
        gates: Sequence[Sequence[int]],
        phase: int,
    ) -> list[int]:
        """Add a bank and an analysis for each waveform; give the numbers of the analyses."""
        law = (18.14, 0.18) if bank == "TmpltBank" else (5.11, 0.1)
        banks = truncated_normal(draws, *law, len(gates))
        analyses = truncated_normal(draws, 460.21, 297_025, len(gates))
        return [
            found.add("Inspiral", analysing, (found.add(bank, each, gate, phase),), phase + 1)
            for each, analysing, gate in zip(banks, analyses, gates, strict=True)
        ]

    def _compared(
        self,
        draws: np.random.Generator,
        found: TaskList,
        analyses: Sequence[int],
        shares: Sequence[int],
        phase: int,
    ) -> list[int]:
        """Add a comparison of each block of analyses; give their numbers."""
        times = truncated_normal(draws, 5.37, 0.06, len(shares))
        return [
            found.add("Thinca", each, [analyses[place] for place in places], phase)
            for each, places in zip(times, _blocks(shares, len(analyses)), strict=True)
        ]


def _shares(draws: np.random.Generator, blocks: int, edges: int, most: int) -> list[int]:
    """Draw how many waveforms each block compares, in falling order; blocks may overlap."""
    while True:
        cuts = sorted(draws.integers(0, edges, blocks - 1).tolist())
        ends = [*cuts, edges if blocks > 1 else min(edges, most)]
        shares = [end - start for start, end in zip([0, *cuts], ends, strict=True)]
        if min(shares) > 0 and max(shares) <= most:
            return sorted(shares, reverse=True)


def _blocks(shares: Sequence[int], count: int) -> list[range]:
    """Return the waveforms of each block: consecutive ranges that end at the last waveform."""
    found, start = [], 0
    for share in shares:
        start = min(start, count - share)
        found.append(range(start, start + share))
        start += share
    return found


class Genome(Workflow):
    """Epigenomics: lanes of sequences, split, each part mapped to a reference, and merged.

    All workflows of a run share the size of the reference, as in a generator that is made once.
    This explains the published width of turnaround intervals at low load (Lim, PhD thesis, tables
    D.17 to D.24): some runs have more work than the resources can do, others never wait. The
    generator intends 4 GiB within 25 %, but takes a remainder that may be negative, which gives 1
    to 5 GiB.
    """

    name: ClassVar[str] = "genome"
    title: ClassVar[str] = "Epigenomics"
    varies: ClassVar[bool] = True
    _LANES: ClassVar[dict[int, tuple[int, int]]] = {30: (1, 6), 50: (2, 5), 100: (1, 24)}

    @property
    def reference(self) -> float:
        """Size of the run's reference (bytes)."""
        return (1 + 4 * self.place) * _GIBIBYTE

    def tasks(self, draws: np.random.Generator, size: int) -> tuple[StageTask, ...]:
        """Draw the tasks: 1 lane of 6 or 24 parts, or 2 lanes of 5."""
        lanes, parts = self._LANES[size]
        found = TaskList()
        merged = [self._lane(draws, found, parts) for _ in range(lanes)]
        phase = 7
        if lanes > 1:
            merged = [found.add("mapMerge", draws.uniform(10, 25), merged, phase)]
            phase += 1
        index = found.add("maqIndex", 0.05, merged, phase)
        (rate,) = truncated_normal(draws, 881_356.45, 8_956_444_331.45, 1)
        found.add("pileup", self.reference / rate, (index,), phase + 1)
        return tuple(found.tasks)

    def _lane(self, draws: np.random.Generator, found: TaskList, parts: int) -> int:
        """Add a lane; give the task that merges it."""
        split = found.add("fastqSplit", draws.uniform(25, 75), (), 1)
        rates = truncated_normal(draws, 369_551.55, 13_049_619_575.46, parts)
        ends = []
        for rate in rates:
            last = split
            times = (draws.uniform(0.2, 2) * 24 / parts for _ in range(3))
            names = ("filterContams", "sol2sanger", "fastq2bfq")
            for phase, (name, seconds) in enumerate(zip(names, times, strict=True), 2):
                last = found.add(name, seconds, (last,), phase)
            ends.append(found.add("map", self.reference / rate, (last,), 5))
        return found.add("mapMerge", draws.uniform(10, 25), ends, 6)


WORKFLOWS: dict[str, type[Workflow]] = {each.name: each for each in (CyberShake, Ligo, Genome)}
"""The families by name."""


def read_workflow(path: Path) -> tuple[StageTask, ...]:
    """Read a workflow: a DAX (.xml, .dax) or a WfCommons instance (.json).

    Tasks shorter than half a millisecond are dummies. The phase of a task is its level. Raises
    UserError, with file and element, and OSError.
    """
    tasks = read_wfcommons(path) if path.suffix == ".json" else read_dax(path)
    durations = [round(task.seconds * SECOND) for task in tasks]
    if not any(durations):
        raise UserError(f"{path}: all tasks have a run time of 0 s")
    phases = _depths(tasks)
    return tuple(
        StageTask(place, durations[place], task.parents, phase=phases[place], name=task.name)
        for place, task in enumerate(tasks)
    )


def _depths(tasks: Sequence[WorkflowTask]) -> list[int]:
    """Return the level of each task, from 1: the longest chain that ends there."""
    depths = [0] * len(tasks)
    for place in parents_first(tasks):
        depths[place] = 1 + max((depths[parent] for parent in tasks[place].parents), default=0)
    return depths
