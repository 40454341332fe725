"""The command `reproduce`: run published experiments again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Generic, TypeVar

import typer

from rebecsim.cli.app import EngineName, Replications, Workers, complain, console, say
from rebecsim.cli.option_groups import grouped
from rebecsim.cli.sizes import SizeOptions, sized
from rebecsim.cli.studies.compare import kept_or_temporary, showing_runs
from rebecsim.extras import REPORTS, require
from rebecsim.studies.storage.arrow import leave_pandas_alone

if TYPE_CHECKING:
    from rich.console import RenderableType

    from rebecsim.clusters.dispatch.scenario import Scenario
    from rebecsim.native.engines import Engine
    from rebecsim.studies import Plan
    from rebecsim.studies.running.comparing import StudyRunner
    from reproductions.dispatch.comparison import Reproduction
    from reproductions.dispatch.page import PageSettings
    from reproductions.dispatch.published import PublishedTable

_CAPACITY, _WORKFLOWS, _DEADLINES = "capacity", "workflows", "deadlines"
"""What published experiments beside the scenarios are called."""


@grouped
def reproduce(
    name: Annotated[
        str | None,
        typer.Argument(
            help="A published scenario, capacity, workflows, or deadlines; default: all scenarios."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Keep the results and their charts in this directory.")
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(
            dir_okay=False, help="Run other message orders too, and write a page (Markdown)."
        ),
    ] = None,
    workers: Workers = None,
    replications: Replications = None,
    engine: EngineName = "auto",
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="capacity: eight experiments, workflows: a table of each family, twice each; "
            "deadlines: the ends of sweeps, once.",
        ),
    ] = False,
    tables: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBERS", help="These tables only; capacity: such as 5.2, workflows: D.1,D.5."
        ),
    ] = None,
    parts: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="deadlines: these parts only, of factors,facebook,wfbb,edf,errors,closed.",
        ),
    ] = None,
    limits: SizeOptions = SizeOptions(),
) -> None:
    """Run published experiments; compare with the printed figures.

    Ours are under the choice law of the original tool; the fair law stands beside them. capacity
    are the experiments on Hadoop's Capacity Scheduler, workflows those on WFBB-RM, deadlines those
    on MRCP-RM and HCP-RM. With --out, a run that was interrupted goes on where it stopped.
    """
    require("rebecsim reproduce", *REPORTS)
    leave_pandas_alone()
    if tables is not None and name not in (_CAPACITY, _WORKFLOWS):
        names = f"{_CAPACITY} and {_WORKFLOWS}"
        raise typer.BadParameter(f"is for {names} only", param_hint="--tables")
    if tables is not None and quick:
        raise typer.BadParameter("cannot be given with --tables", param_hint="--quick")
    if parts is not None and name != _DEADLINES:
        raise typer.BadParameter(f"is for {_DEADLINES} only", param_hint="--parts")
    wanted = _Wanted(out, page, workers, engine, limits)
    chosen = _listed(tables)
    if name == _CAPACITY:
        _reproduce_capacity(wanted, replications, quick, chosen)
        return
    if name == _WORKFLOWS:
        _reproduce_workflows(wanted, replications, quick, chosen)
        return
    if name == _DEADLINES:
        _reproduce_deadlines(wanted, replications, quick, _listed(parts))
        return
    if quick:
        names = f"{_CAPACITY}, {_WORKFLOWS} and {_DEADLINES}"
        raise typer.BadParameter(f"is for {names} only", param_hint="--quick")
    _reproduce_tables(name, wanted, replications)


@dataclass(frozen=True)
class _Wanted:
    """What is asked for of published experiments: where runs and page go, and how they are made."""

    out: Path | None
    page: Path | None
    workers: int | None
    engine: Engine
    limits: SizeOptions


_Found = TypeVar("_Found")


@dataclass(frozen=True)
class _Experiments(Generic[_Found]):
    """Published experiments: their plans, how they are run, shown, and written as a page.

    `plans` are by the directories of their results, which get charts; `beside` are the others.
    """

    plans: Mapping[str, Plan]
    run: Callable[[Path, StudyRunner], _Found]
    view: Callable[[_Found], RenderableType]
    page: Callable[[_Found], str]
    beside: Sequence[Plan] = ()


def _by_name(plans: Iterable[Plan]) -> dict[str, Plan]:
    return {plan.scenario.name: plan for plan in plans}


def _reproduce_capacity(
    wanted: _Wanted, replications: int | None, quick: bool, tables: tuple[str, ...]
) -> None:
    """Run the experiments on the Capacity Scheduler."""
    from reproductions.capacity.report import (
        reproduction_markdown,
        reproduction_view,
    )
    from reproductions.capacity.running import (
        Extent,
        capacity_plans,
        reproduce_capacity,
    )

    extent = Extent(quick, replications, tables)
    plans = capacity_plans(extent)
    _reproduce_experiments(
        wanted,
        _Experiments(
            _by_name(chain.from_iterable(plans)),
            lambda directory, runner: reproduce_capacity(directory, runner, plans),
            lambda found: reproduction_view(found, extent),
            lambda found: reproduction_markdown(found, extent),
        ),
    )


def _reproduce_workflows(
    wanted: _Wanted, replications: int | None, quick: bool, tables: tuple[str, ...]
) -> None:
    """Run the experiments on WFBB-RM."""
    from reproductions.workflows.report import workflows_markdown, workflows_view
    from reproductions.workflows.running import (
        WorkflowExtent,
        reproduce_workflows,
        workflow_plans,
    )

    extent = WorkflowExtent(quick, tables, replications)
    plans = workflow_plans(extent)
    _reproduce_experiments(
        wanted,
        _Experiments(
            _by_name(chain.from_iterable(rows for _, rows in plans)),
            lambda directory, runner: reproduce_workflows(directory, runner, plans),
            lambda found: workflows_view(found, extent),
            lambda found: workflows_markdown(found, extent),
        ),
    )


def _reproduce_deadlines(
    wanted: _Wanted, replications: int | None, quick: bool, parts: tuple[str, ...]
) -> None:
    """Run the experiments on MRCP-RM, HCP-RM and closed problems."""
    from reproductions.deadlines.report import (
        deadlines_markdown,
        deadlines_view,
    )
    from reproductions.deadlines.running import (
        DeadlineExtent,
        deadline_plans,
        run_deadlines,
    )

    extent = DeadlineExtent(quick, replications, parts)
    plans = deadline_plans(extent)
    _reproduce_experiments(
        wanted,
        _Experiments(
            _by_name(plans.values()),
            lambda directory, runner: run_deadlines(directory, runner, plans),
            lambda found: deadlines_view(found, extent),
            lambda found: deadlines_markdown(found, extent),
        ),
    )


def _reproduce_experiments(wanted: _Wanted, experiments: _Experiments[_Found]) -> None:
    """Run published experiments, and show the published figures beside ours."""
    from rebecsim.clusters.workers import executor_with_plugins
    from rebecsim.files import write_atomically
    from rebecsim.report import write_report
    from rebecsim.report.comparison import report_input
    from rebecsim.studies.plan import plan_size
    from rebecsim.studies.running.comparing import StudyRunner
    from rebecsim.studies.running.executors import available_workers
    from rebecsim.studies.storage.results import Results

    page, plans = wanted.page, [*experiments.plans.values(), *experiments.beside]
    _require_place(page)
    count = wanted.workers or available_workers()
    modules = plans[0].study.modules(wanted.engine)
    with (
        sized(plan_size(plans, count), wanted.limits) as watch,
        kept_or_temporary(wanted.out) as directory,
        executor_with_plugins(count, modules) as executor,
    ):
        advice = f"{directory}: go on with the same command"
        showing = partial(showing_runs, advice, watch=watch)
        runner = StudyRunner(executor, wanted.engine, showing, complain)
        found = experiments.run(directory, runner)
        if wanted.out is not None:
            for name, plan in experiments.plans.items():
                results = Results(directory / name)
                write_report(report_input(plan, results), results.directory, executor)
    console().print(experiments.view(found))
    if page is not None:
        write_atomically(page, experiments.page(found).encode())
        say(f"page  {page}")


def _listed(text: str | None) -> tuple[str, ...]:
    return tuple(each.strip() for each in text.split(",")) if text else ()


def _require_place(page: Path | None) -> None:
    if page is not None and not page.parent.is_dir():
        raise typer.BadParameter(f"there is no directory {page.parent}", param_hint="--page")


def _reproduce_tables(name: str | None, wanted: _Wanted, replications: int | None) -> None:
    """Run the published scenarios of one name, or all of them."""
    from reproductions.dispatch.comparison import (
        reproduction_rows,
        reproduction_table,
    )
    from reproductions.dispatch.page import reproduction_page
    from reproductions.dispatch.published import tables_of

    with_page = wanted.page is not None
    tables = [_planned(table, replications, with_page) for table in tables_of(name)]

    def view(found: Sequence[_Reproduced]) -> RenderableType:
        rows = [row for each in found for row in reproduction_rows(each.reproduction)]
        return reproduction_table(rows, "Published scenarios")

    def page(found: Sequence[_Reproduced]) -> str:
        settings = _page_settings(name, found)
        return reproduction_page([each.reproduction for each in found], settings)

    _reproduce_experiments(
        wanted,
        _Experiments(
            {name: plan for each in tables for name, plan in each.by_directory.items()},
            lambda directory, runner: [_reproduced(each, directory, runner) for each in tables],
            view,
            page,
            [plan for each in tables for plan in each.orders.values()],
        ),
    )


@dataclass(frozen=True)
class _PlannedTable:
    """A published table with the plans of its variants, and of the original in other orders."""

    table: PublishedTable
    variants: Mapping[str, Plan]
    orders: Mapping[str, Plan]

    @property
    def by_directory(self) -> Mapping[str, Plan]:
        """The variants, by the directories of their results."""
        return {self.directory(variant): plan for variant, plan in self.variants.items()}

    def directory(self, variant: str) -> str:
        """Say where the results of a variant are."""
        return f"{self.table.scenario}_{variant}"


@dataclass(frozen=True)
class _Reproduced:
    """A published table with our runs of it, and how they were made."""

    reproduction: Reproduction
    scenario: Scenario
    order_replications: int
    versions: Mapping[str, str]


def _planned(table: PublishedTable, replications: int | None, with_page: bool) -> _PlannedTable:
    """Lay out a published scenario in every variant that is wanted."""
    from rebecsim.clusters.scenarios import load_scenario, plan_scenario
    from reproductions.dispatch.published import reproduction_scenarios

    built_in = load_scenario(table.scenario).replace(replications=replications)
    scenarios = reproduction_scenarios(built_in, corrected=with_page)
    plans = {variant: plan_scenario(scenario) for variant, scenario in scenarios.items()}
    main = plans["rmc"]
    orders = main.beside(main.scenario.replications) if with_page else {}
    return _PlannedTable(table, plans, orders)


def _reproduced(wanted: _PlannedTable, directory: Path, runner: StudyRunner) -> _Reproduced:
    """Run a published scenario in every variant."""
    from rebecsim.studies.running.comparing import planned
    from rebecsim.studies.running.runner import PlannedRun
    from reproductions.dispatch.comparison import Reproduction

    table = wanted.table
    runs = {
        variant: PlannedRun.kept(plan, directory / wanted.directory(variant))
        for variant, plan in wanted.variants.items()
    }
    main = runs["rmc"]
    orders = {order: planned(plan, main.results, order) for order, plan in wanted.orders.items()}
    runner.run([*runs.values(), *orders.values()])
    moments = {variant: run.results.moments(run.plan) for variant, run in runs.items()}
    return _Reproduced(
        Reproduction(
            table=table,
            ours=moments["rmc"],
            fair=moments["fair"],
            corrected=moments.get("corrected", ()),
            orders={order: run.results.moments(run.plan) for order, run in orders.items()},
        ),
        main.plan.scenario,
        max((plan.scenario.replications for plan in wanted.orders.values()), default=0),
        main.results.record()["versions"],
    )


def _page_settings(name: str | None, found: Sequence[_Reproduced]) -> PageSettings:
    from reproductions.dispatch.page import PageSettings

    first = found[0]
    words = ("rebecsim", "reproduce", *([name] if name else []))
    options = ("--replications", str(first.scenario.replications), "--page", "FILE")
    return PageSettings(
        command=" ".join((*words, *options)),
        replications=first.scenario.replications,
        order_replications=first.order_replications,
        seeds=tuple(sorted({each.scenario.seed for each in found})),
        versions=first.versions,
    )
