"""In how many of 100 seeds a tenth of the runs of a published table finds its best cell.

Runs are drawn, not simulated: of workflows from the published means and their errors, of the other
tables from runs that were recorded. Draws of recorded runs take the same ones of all cells, which
had the same random numbers.

    python -m benchmarks.tuning              # workflows (D.1 to D.24)
    python -m benchmarks.tuning DIRECTORY    # what these commands left there:

        rebecsim compare capacity_separated --replications 20 --out DIRECTORY/capacity_separated
        rebecsim compare capacity_interleaved --replications 20 --out DIRECTORY/capacity_interleaved
        rebecsim compare capacity_apart --replications 20 --out DIRECTORY/capacity_apart
        rebecsim reproduce deadlines --parts factors,wfbb,edf --replications 10 --out DIRECTORY
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rebecsim.clusters.scenarios import open_run
from rebecsim.search.space import Candidate, Numbers, Question, StoredCounts
from rebecsim.search.tuning import choose
from reproductions.deadlines.running import (
    COMPARED_RATES,
    WORD_COUNT_INTERVALS,
    compared_name,
    earliest_name,
    published_deadlines,
    sweep_name,
    word_count_name,
)
from reproductions.framework import MOST_ERRORS, errors_apart
from reproductions.workflows.published import COMPARED, published
from tests.search.counted import Drawn, drawn_plan

RUNS, SEEDS = 100, 100
"""Of a cell of the whole table, as those of dispatch have; and searches."""


@dataclass(frozen=True)
class Tuned:
    """A table: its cells, and how to draw their runs.

    Attributes:
        name: what is shown.
        cells: their names.
        means: the figures that are known, lower ones being better.
        recorded: runs, shape (cells, runs); None: they are drawn by the means and `errors`.
        errors: standard errors of the means.
    """

    name: str
    cells: tuple[str, ...]
    means: Numbers
    errors: Numbers
    recorded: Numbers | None = None

    def drawn(self, seed: int) -> Numbers:
        """Draw the runs of all cells, shape (cells, runs)."""
        random = np.random.default_rng(seed)
        if self.recorded is not None:
            return self.recorded[:, random.integers(0, self.recorded.shape[1], RUNS)]
        size = len(self.cells), RUNS
        return random.normal(self.means[:, None], np.sqrt(RUNS) * self.errors[:, None], size)

    @property
    def best(self) -> set[int]:
        """The cells that the whole table does not tell apart from the lowest one."""
        lowest = int(np.argmin(self.means))
        return {
            cell
            for cell in range(len(self.cells))
            if errors_apart(self.means[cell] - self.means[lowest], *self._errors(cell, lowest))
            <= MOST_ERRORS
        }

    def _errors(self, one: int, other: int) -> tuple[float, ...]:
        if self.recorded is None:
            return self.errors[one], self.errors[other]
        return (float((self.recorded[one] - self.recorded[other]).std(ddof=1) / np.sqrt(RUNS)),)


def workflow_tables() -> Iterator[Tuned]:
    """Give each table with late jobs and with turnarounds, misprints left out."""
    for table in published().values():
        for figure in COMPARED:
            printed = {
                f"{row.label} {policy}": each
                for row in table.rows
                for policy, each in zip(table.policies, row.figures[figure], strict=True)
                if each is not None
            }
            yield Tuned(
                f"{table.number} {figure}",
                tuple(printed),
                np.array([each.value for each in printed.values()]),
                np.array([each.standard_error for each in printed.values()]),
            )


def recorded_tables(directory: Path) -> Iterator[Tuned]:
    """Give the tables whose runs are in a directory, all of them."""
    for name, first in (("separated", 1), ("separated", 9), ("interleaved", 17), ("apart", 25)):
        wanted = {f"experiment_{number}" for number in range(first, first + 8)}
        place = directory / f"capacity_{name}"
        for measure in ("response_ratio", "makespan") if is_whole(place) else ():
            yield recorded(f"experiments {first} to {first + 7}", [place], measure, wanted)
    said = published_deadlines()
    sweeps: dict[str, list[str]] = {
        f"MRCP-RM by {each['factor']}": [sweep_name(each["factor"], at) for at in each["levels"]]
        for each in said["sweeps"]
    }
    sweeps["MRCP-RM and WFBB-RM by rate"] = [compared_name("rate", at) for at in COMPARED_RATES]
    sweeps |= {
        f"MRCP-RM and WFBB-RM by {each['factor']}": [
            compared_name(each["factor"], at) for at in each["levels"]
        ]
        for each in said["budgets"]
    }
    sweeps |= {
        f"HCP-RM and EDF by {each['factor']}": [
            earliest_name(each["factor"], at) for at in each["levels"]
        ]
        for each in said["earliest"]
    }
    sweeps["HCP-RM and EDF, WordCount"] = [word_count_name(at) for at in WORD_COUNT_INTERVALS]
    for name, parts in sweeps.items():
        places = [directory / f"deadlines_{each}" for each in parts]
        for measure in ("late", "turnaround") if all(map(is_whole, places)) else ():
            yield recorded(name, places, measure)


def is_whole(place: Path) -> bool:
    """Whether a directory has all runs of all cells."""
    if not (place / "run.json").exists():
        return False
    run = open_run(place)
    return len(run.finished) == len(run.cells)


def recorded(
    name: str, places: Sequence[Path], measure: str, policies: set[str] | None = None
) -> Tuned:
    """Read the runs of cells: all of some directories, or those of some policies."""
    rows: dict[str, Numbers] = {}
    for place in places:
        run = open_run(place)
        metric = next(each for each in run.contents.measures if each.name == measure)
        for cell in run.cells:
            if policies is None or cell.cell.policy in policies:
                above, below = StoredCounts(run.results).counts(
                    Candidate({}, (cell,)), metric, run.replications
                )
                rows[f"{place.name} {cell.cell.policy}"] = (
                    above if below is None else above / below
                )[0]
    runs = np.stack([*rows.values()])
    errors = runs.std(axis=1, ddof=1) / np.sqrt(RUNS)
    return Tuned(f"{name}: {measure}", tuple(rows), runs.mean(axis=1), errors, runs)


@dataclass(frozen=True)
class Counts:
    """Of some searches of a table.

    Attributes:
        found: those that chose one of the best cells.
        lost: those that ruled out the best one.
        alike: the mean number of cells that were not told apart from the choice.
    """

    found: int
    lost: int
    alike: float


def searched(table: Tuned, seeds: range) -> Counts:
    """Search a table with a tenth of its runs, once for each seed."""
    best, count = table.best, len(table.cells)
    plan, found, lost, alike = drawn_plan(count), 0, 0, 0
    asked = Question(
        what="tune",
        measure="deadline_misses",
        better="lower",
        over=[],
        budget=count * RUNS // 10,
    )
    for seed in seeds:
        counted = Drawn(table.drawn(seed))
        choice = choose(plan, asked, counted, counted.run)
        found += counted.cell_of(choice.best) in best
        ruled_out = [each.candidate for each in choice.standings if each.verdict == "ruled out"]
        lost += int(np.argmin(table.means)) in map(counted.cell_of, ruled_out)
        alike += len(choice.not_told_apart)
    return Counts(found, lost, alike / len(seeds))


def main(tables: Iterator[Tuned]) -> None:
    """Search each table, and print what was found."""
    print(f"{'table':52} cells best found  ruled out  not told apart")
    for table in tables:
        best, count = len(table.best), len(table.cells)
        told = "no cell is best"
        if best < count:
            counts = searched(table, range(SEEDS))
            told = f"{counts.found:5} {counts.lost:10} {counts.alike:15.1f}"
        print(f"{table.name:52} {count:5} {best:4} {told}")


if __name__ == "__main__":
    main(recorded_tables(Path(sys.argv[1])) if sys.argv[1:] else workflow_tables())
