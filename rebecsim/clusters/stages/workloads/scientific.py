"""Scientific workflows: CyberShake, LIGO's Inspiral and Epigenomics, of about 30, 50 or 100 tasks.

Structures and times follow the published characterisation of Bharathi et al. (2008), with the
parameters of the generator that belongs to it. Times are normal, drawn again until they lie within
half of the mean on either side. Here they are drawn from that law at once, and rounded up to whole
seconds, as the evaluation of WFBB-RM needs them: the mean work of CyberShake and LIGO, and how long
they take alone, come nearer to what is published there, by 1 to 2 %.

Phases are the execution phases of WFBB-RM's evaluation: they are passed one after the other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import ceil
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from rebecsim.clusters.stages.job import SECOND, StageTask

SIZES = (30, 50, 100)
"""Tasks of small, medium and large workflows; the structures come near to them."""

_GIBIBYTE = 2**30


def truncated_normal(
    draws: np.random.Generator, mean: float, variance: float, count: int
) -> NDArray[np.float64]:
    """Draw from a normal law that is cut at half of the mean and at one and a half of it."""
    deviation = variance**0.5
    cut = ndtr(0.5 * mean / deviation)
    uniform = draws.uniform(1 - cut, cut, count)
    return np.asarray(mean + deviation * ndtri(uniform))


class TaskList:
    """The tasks of a workflow while it is put together."""

    def __init__(self) -> None:
        self.tasks: list[StageTask] = []

    def add(self, name: str, seconds: float, parents: Sequence[int], phase: int) -> int:
        """Add a task of whole seconds, of 0 s: a dummy; give its number."""
        number, duration = len(self.tasks), ceil(seconds) * SECOND
        self.tasks.append(StageTask(number, duration, tuple(parents), phase=phase, name=name))
        return number


class Workflow(ABC):
    """A family of workflows, as it is in one run: what is common to all is drawn once.

    Attributes:
        name: that of scenarios.
        title: in words.
    """

    name: ClassVar[str]
    title: ClassVar[str]

    def __init__(self, draws: np.random.Generator) -> None:  # noqa: B027 - most have nothing
        """Draw what all workflows of a run have in common."""

    @abstractmethod
    def tasks(self, draws: np.random.Generator, size: int) -> tuple[StageTask, ...]:
        """Draw the tasks of a workflow of about so many."""


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
        of_first = round(count / 2 * draws.uniform(0.75, 1.25))
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
    """Gravitational waves: blocks of waveforms, each analysed, compared, and analysed again."""

    name: ClassVar[str] = "ligo"
    title: ClassVar[str] = "LIGO Inspiral"

    def tasks(self, draws: np.random.Generator, size: int) -> tuple[StageTask, ...]:
        """Draw the tasks: 4 for each waveform and 2 for each of 1 to max(3, 5 %) blocks."""
        blocks = int(draws.integers(1, max(3, size // 20), endpoint=True))
        waveforms = (size - 2 * blocks) // 4
        found = TaskList()
        for block in range(blocks):
            count = waveforms // blocks + (block < waveforms % blocks)
            self._block(draws, found, count)
        return tuple(found.tasks)

    def _block(self, draws: np.random.Generator, found: TaskList, count: int) -> None:
        banks = truncated_normal(draws, 18.14, 0.18, count)
        analyses = truncated_normal(draws, 460.21, 297397, 2 * count)
        comparisons = truncated_normal(draws, 5.37, 0.06, 2)
        triggers = truncated_normal(draws, 5.11, 0.1, count)
        first = [
            found.add("Inspiral", each, (found.add("TmpltBank", bank, (), 1),), 2)
            for bank, each in zip(banks, analyses[:count], strict=True)
        ]
        middle = found.add("Thinca", comparisons[0], first, 3)
        second = [
            found.add("Inspiral", each, (found.add("TrigBank", trigger, (middle,), 4),), 5)
            for trigger, each in zip(triggers, analyses[count:], strict=True)
        ]
        found.add("Thinca", comparisons[1], second, 6)


class Genome(Workflow):
    """Epigenomics: lanes of sequences, split, each part mapped to a reference, and merged.

    The size of the reference is drawn for each workflow, and it is mapped and piled up as fast as
    on average: so the work of a job is what has been published (Lim, PhD thesis, section 7.4.2).
    Were speeds or sizes drawn once for a run, some runs would have so much load that all wait,
    where none did (tables D.17 to D.24 at 1/2290 jobs a second).
    """

    name: ClassVar[str] = "genome"
    title: ClassVar[str] = "Epigenomics"
    _LANES: ClassVar[dict[int, tuple[int, int]]] = {30: (1, 6), 50: (2, 5), 100: (1, 24)}
    _MAPPED: ClassVar[float] = 369_551.55
    _PILED: ClassVar[float] = 881_356.45

    def tasks(self, draws: np.random.Generator, size: int) -> tuple[StageTask, ...]:
        """Draw the tasks: 1 lane of 6 or 24 parts, or 2 lanes of 5."""
        lanes, parts = self._LANES[size]
        found, reference = TaskList(), 4 * _GIBIBYTE * draws.uniform(0.75, 1.25)
        merged = [self._lane(draws, found, parts, reference / self._MAPPED) for _ in range(lanes)]
        phase = 7
        if lanes > 1:
            merged = [found.add("mapMerge", draws.uniform(10, 25), merged, phase)]
            phase += 1
        index = found.add("maqIndex", 0.05, merged, phase)
        found.add("pileup", reference / self._PILED, (index,), phase + 1)
        return tuple(found.tasks)

    def _lane(self, draws: np.random.Generator, found: TaskList, parts: int, mapping: float) -> int:
        """Add a lane; give the task that merges it."""
        split = found.add("fastqSplit", draws.uniform(25, 75), (), 1)
        ends = []
        for _ in range(parts):
            last = split
            times = (draws.uniform(0.2, 2) * 24 / parts for _ in range(3))
            names = ("filterContams", "sol2sanger", "fastq2bfq")
            for phase, (name, seconds) in enumerate(zip(names, times, strict=True), 2):
                last = found.add(name, seconds, (last,), phase)
            ends.append(found.add("map", mapping, (last,), 5))
        return found.add("mapMerge", draws.uniform(10, 25), ends, 6)


WORKFLOWS: dict[str, type[Workflow]] = {each.name: each for each in (CyberShake, Ligo, Genome)}
"""The families by name."""
