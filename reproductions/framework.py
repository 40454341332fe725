"""What all published experiments share: how much is run, their plans, and who shows them."""

from __future__ import annotations

import tomllib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from rich.console import RenderableType

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
