"""What published experiments share: plans, agreement with our figures, and pages.

A plan says how much is run. Agreement says when a figure of ours agrees with a published one, and
how far many are from them. Pages are text for a terminal, or Markdown."""

from __future__ import annotations

import math
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, TypeVar

import numpy as np
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from rebecsim.metrics import Metric
from rebecsim.report.numbers import DASH
from rebecsim.studies.estimates import linear_form
from rebecsim.studies.moments import CellMoments
from rebecsim.studies.plan import Plan
from rebecsim.studies.running import PlannedRun, StudyRunner, planned

Found = TypeVar("Found")


def read_beside(module: str, name: str = "published.toml") -> dict[str, Any]:
    """Read a file of published figures that is beside a module, whose own file is given."""
    return tomllib.loads(Path(module).with_name(name).read_text("utf-8"))


@dataclass(frozen=True, slots=True)
class Extent:
    """How much of some published experiments is run.

    Attributes:
        quick: a part of them that says most.
        replications: of each; None: as usual.
        tables: instead: what these tables need, by number; empty: as `quick` says.
        parts: instead: these parts, by name; empty: as `quick` says.
    """

    quick: bool = False
    replications: int | None = None
    tables: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()

    name: ClassVar[str]
    """What the experiments are called, after `rebecsim reproduce`."""

    usual: ClassVar[int]
    """Replications of each experiment."""

    usual_if_quick: ClassVar[int]
    """Replications of each experiment of the quick part."""

    @property
    def command(self) -> str:
        """What is typed for it."""
        words = ["rebecsim", "reproduce", self.name]
        if self.quick:
            words.append("--quick")
        if self.tables:
            words.append(f"--tables {','.join(self.tables)}")
        if self.parts:
            words.append(f"--parts {','.join(self.parts)}")
        if self.replications is not None:
            words.append(f"--replications {self.replications}")
        return " ".join(words)

    @property
    def runs(self) -> int:
        """How many replications there are."""
        return self.replications or (self.usual_if_quick if self.quick else self.usual)


class Experiments(ABC, Generic[Found]):
    """Published experiments: the plan behind each, and what is published beside our figures."""

    @abstractmethod
    def plans(self) -> Mapping[str, Plan]:
        """Lay out the runs, by the directories of their results.

        Raises UserError for tables or parts that there are not.
        """

    def orders(self) -> Mapping[tuple[str, str], Plan]:
        """Lay out runs in other message orders: (directory, order) -> plan."""
        return {}

    @abstractmethod
    def found(
        self, runs: Mapping[str, PlannedRun], orders: Mapping[tuple[str, str], PlannedRun]
    ) -> Found:
        """Compute our figures from finished runs."""

    @abstractmethod
    def view(self, found: Found) -> RenderableType:
        """Show published figures and ours in a terminal."""

    @abstractmethod
    def page(self, found: Found) -> str:
        """Write published figures and ours as Markdown; it depends on these alone."""


def run_experiments(experiments: Experiments[Found], directory: Path, runner: StudyRunner) -> Found:
    """Run what is not in a directory yet, and compute the figures of all."""
    runs = {
        name: PlannedRun.kept(plan, directory / name) for name, plan in experiments.plans().items()
    }
    orders = {
        (name, order): planned(plan, runs[name].results, order)
        for (name, order), plan in experiments.orders().items()
    }
    runner.run([*runs.values(), *orders.values()])
    return experiments.found(runs, orders)


MOST_ERRORS = 3.0
"""Standard errors of a difference that chance does not explain."""

ENOUGH_RUNS = 5
"""Of a cell, to tell from how these differ how sure a figure is."""


@dataclass(frozen=True, slots=True)
class Checked:
    """Something that is published, held against our figures.

    Attributes:
        says: what is published, or of which experiment and which figure.
        published: as printed, in words or figures; empty: `says` has it.
        ours: as simulated here, in words or figures.
        holds: whether ours is within the bounds; None: it was not run.
        distance: of a figure, which one it is and how far ours is from the published one, in parts
            of that; None where that is 0, or it is no figure.
        name: what the page calls it, as in R1.
        tables: numbers of the tables that say it.
    """

    says: str
    published: str
    ours: str
    holds: bool | None
    distance: tuple[str, float] | None = None
    name: str = ""
    tables: str = ""

    @property
    def verdict(self) -> Literal["holds", "missed", "open"]:
        """Whether it holds, in a word."""
        return "open" if self.holds is None else "holds" if self.holds else "missed"


def shares_within(within: int, of: int, bounds: str) -> str:
    """Say how many cells of how many are within some bounds."""
    share = 100 * within / of if of else 0.0
    return f"{within} of {of} cells ({share:.0f} %) are within {bounds}"


def within_count(cells: Collection[Checked]) -> tuple[int, int]:
    """Give how many cells of how many hold."""
    return sum(bool(cell.holds) for cell in cells), len(cells)


def is_conspicuous(errors: float | None) -> bool:
    """Whether a difference in standard errors is too large to be put down to chance."""
    return errors is not None and abs(errors) > MOST_ERRORS


def errors_apart(apart: float, *errors: float) -> float:
    """Give a difference in standard errors of it, from those of both figures; infinite if exact."""
    error = math.hypot(*errors)
    return apart / error if error else math.copysign(math.inf, apart) if apart else 0.0


def standard_error_for(metric: Metric, moments: Sequence[CellMoments], runs: int) -> float | None:
    """Standard error that the metric would have with `runs` runs in each cell.

    The spread of single runs is estimated from the runs at hand. It says how far a figure that
    someone else published after so many runs may be from the truth.

    Returns:
        The standard error; None when a cell has fewer than two runs or the ratio is undefined.

    Raises:
        ValueError: when `runs` is not positive, or there is no cell or a cell without runs.
    """
    if runs < 1:
        raise ValueError(f"the number of runs must be positive, not {runs}")
    form = linear_form(moments, metric.numerator, metric.denominator)
    if form is None or any(cell.replications < 2 for cell in moments):
        return None
    return form.standard_error([cell.variance_of(form.weights) / runs for cell in moments])


def relative_distance(ours: float, published: float) -> float | None:
    """Give how far a figure is from the published one, in parts of that; None: that is 0."""
    return abs(ours - published) / abs(published) if published else None


def distance_words(distances: Sequence[float]) -> tuple[str, str]:
    """Give the median and the 90th percentile of relative distances, in percent."""
    if not distances:
        return DASH, DASH
    median, most = np.percentile(np.array(distances), [50, 90]).tolist()
    return f"{100 * median:.1f} %", f"{100 * most:.1f} %"


def few_runs_notes(runs: int) -> tuple[str, ...]:
    """Say so where cells have so few runs that hardly any of them could fail."""
    if runs >= ENOUGH_RUNS:
        return ()
    return (
        f"Cells have fewer than {ENOUGH_RUNS} runs here, and could not really fail: how runs "
        "differ is not known well enough to tell ours from what is published. A cell may hold, or "
        "be missed, by chance. Go by the distances, or run with --replications 5.",
    )


def written_page(command: str, title: str, parts: Iterable[str]) -> str:
    """Write a page that a command makes."""
    made = f"<!-- Made by `{command}`: do not edit this file, run the command again. -->"
    return "\n\n".join((made, f"# {title}", *parts)) + "\n"


def markdown_table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Write a table as Markdown."""
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join(f"| {' | '.join(row)} |".replace("|  |", "| |") for row in rows)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table in a terminal: numbers stand at its right, and whole lines stay so."""

    heading: str = ""
    is_number: bool = False
    is_whole: bool = False


def numbers(headings: Iterable[str], *, whole: bool = True) -> list[Column]:
    """Give columns of numbers."""
    return [Column(each, is_number=True, is_whole=whole) for each in headings]


def text_table(
    columns: Iterable[Column], lines: Iterable[Sequence[str | Text]], *dim: str, gap: int = 1
) -> Table:
    """Lay out a table for a terminal; lines that have a word of `dim` are so.

    Columns are `gap` blanks apart. Headings that are all empty are left out.
    """
    columns = list(columns)
    headed = any(each.heading for each in columns)
    table = Table(box=None, pad_edge=False, padding=(0, gap, 0, 0), show_header=headed)
    for each in columns:
        table.add_column(
            each.heading,
            justify="right" if each.is_number else "left",
            no_wrap=each.is_whole,
        )
    for line in lines:
        style = "dim" if any(str(each).strip() in dim for each in line) else ""
        table.add_row(
            *(each if isinstance(each, Text) else Text(each, style=style) for each in line)
        )
    return table
