"""The published scenarios of dispatch and of eviction, to be run and shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rich.console import RenderableType

from rebecsim.clusters.dispatch.scenario import Scenario
from rebecsim.clusters.scenarios import load_scenario, plan_scenario
from rebecsim.studies.plan import Plan
from rebecsim.studies.running import PlannedRun
from reproductions.dispatch.comparison import (
    PublishedTable,
    Reproduction,
    reproduction_rows,
    reproduction_scenarios,
    reproduction_table,
    tables_of,
)
from reproductions.dispatch.page import PageSettings, reproduction_page
from reproductions.framework import Experiments


@dataclass(frozen=True)
class Reproduced:
    """A published table with our runs of it, and how they were made."""

    reproduction: Reproduction
    scenario: Scenario
    versions: Mapping[str, str]


class ScenarioExperiments(Experiments[list[Reproduced]]):
    """The published scenarios of one name, or all; with a page in other message orders, too."""

    def __init__(self, name: str | None, replications: int | None, with_page: bool) -> None:
        self.name = name
        self.tables = [
            (table, _variants(table, replications, with_page)) for table in tables_of(name)
        ]
        self.with_page = with_page

    def plans(self) -> Mapping[str, Plan]:
        """Lay out each scenario in its variants."""
        return {
            _directory(table, variant): plan
            for table, variants in self.tables
            for variant, plan in variants.items()
        }

    def orders(self) -> Mapping[tuple[str, str], Plan]:
        """Lay out the original of each scenario in the other orders, for a page."""
        return {
            (_directory(table, "rmc"), order): plan
            for table, variants in self.tables
            if self.with_page
            for order, plan in _beside(variants["rmc"]).items()
        }

    def found(
        self, runs: Mapping[str, PlannedRun], orders: Mapping[tuple[str, str], PlannedRun]
    ) -> list[Reproduced]:
        """Compute the figures of all."""
        return [
            _reproduced(
                table,
                {variant: runs[_directory(table, variant)] for variant in variants},
                {
                    order: run
                    for (directory, order), run in orders.items()
                    if directory == _directory(table, "rmc")
                },
            )
            for table, variants in self.tables
        ]

    def view(self, found: list[Reproduced]) -> RenderableType:
        """Show a block for each table."""
        rows = [row for each in found for row in reproduction_rows(each.reproduction)]
        return reproduction_table(rows, "Published scenarios")

    def page(self, found: list[Reproduced]) -> str:
        """Write a section for each table, and summaries."""
        first = found[0]
        words = ("rebecsim", "reproduce", *([self.name] if self.name else []))
        options = ("--replications", str(first.scenario.replications), "--page", "FILE")
        orders = self.orders().values()
        settings = PageSettings(
            command=" ".join((*words, *options)),
            replications=first.scenario.replications,
            order_replications=max((plan.scenario.replications for plan in orders), default=0),
            seeds=tuple(sorted({each.scenario.seed for each in found})),
            versions=first.versions,
        )
        return reproduction_page([each.reproduction for each in found], settings)


def _directory(table: PublishedTable, variant: str) -> str:
    """Say where the results of a variant are."""
    return f"{table.scenario}_{variant}"


def _beside(plan: Plan) -> Mapping[str, Plan]:
    return plan.beside(plan.scenario.replications)


def _variants(
    table: PublishedTable, replications: int | None, with_page: bool
) -> Mapping[str, Plan]:
    built_in = load_scenario(table.scenario).replace(replications=replications)
    scenarios = reproduction_scenarios(built_in, corrected=with_page)
    return {variant: plan_scenario(scenario) for variant, scenario in scenarios.items()}


def _reproduced(
    table: PublishedTable, runs: Mapping[str, PlannedRun], orders: Mapping[str, PlannedRun]
) -> Reproduced:
    moments = {variant: run.results.moments(run.plan) for variant, run in runs.items()}
    reproduction = Reproduction(
        table=table,
        ours=moments["rmc"],
        fair=moments["fair"],
        corrected=moments.get("corrected", ()),
        orders={order: run.results.moments(run.plan) for order, run in orders.items()},
    )
    main = runs["rmc"]
    return Reproduced(reproduction, main.plan.scenario, main.results.record()["versions"])
