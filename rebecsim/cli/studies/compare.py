"""Commands about comparisons: scenarios, compare, reproduce."""

from __future__ import annotations

import re
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer.core import TyperCommand

from rebecsim.cli.app import (
    EngineName,
    Law,
    Plugins,
    Replications,
    ScenarioName,
    Workers,
    complain,
    console,
    error_console,
    say,
    use_plugins,
)
from rebecsim.cli.commands import app
from rebecsim.cli.option_groups import grouped
from rebecsim.cli.studies.arrow import leave_pandas_alone
from rebecsim.errors import WorkerKilledError
from rebecsim.exit_codes import ExitCode

if TYPE_CHECKING:
    from rebecsim.clusters.dispatch.published import PublishedTable
    from rebecsim.clusters.dispatch.report.reproduction import Reproduction
    from rebecsim.clusters.dispatch.report.reproduction_page import PageSettings
    from rebecsim.clusters.dispatch.scenario import Scenario
    from rebecsim.report import WrittenReport
    from rebecsim.studies import Plan, PlannedRun, Study
    from rebecsim.studies.running.comparing import Bar, StudyRunner

DASK, LOCAL = "--dask", "local"
_ADDRESS = re.compile(r"local$|\S+://|\S+:\d+$")
"""What may follow --dask; anything else is the next argument."""

_CAPACITY = "capacity"
"""What the experiments on Hadoop's Capacity Scheduler are called."""

_MOST_REPLICATIONS = 10_000
"""Runs per cell after which a wanted precision is given up, unless the user says otherwise."""


@app.command()
def scenarios(plugin: Plugins = None) -> None:
    """List the built-in scenarios; with --plugin, see whether plug-ins can be loaded."""
    from rebecsim.clusters.kinds import kind_names
    from rebecsim.clusters.loading import load_installed_plugins
    from rebecsim.studies.scenarios.scenario_files import builtin_scenarios, read_scenario_text

    load_installed_plugins()
    use_plugins(plugin)
    kinds = list(kind_names())
    found = {name: read_scenario_text(name).values for name in builtin_scenarios()}
    for name, values in sorted(found.items(), key=lambda each: kinds.index(str(each[1]["kind"]))):
        say(f"{name:<24} {values['kind']:<9} {values.get('title') or name}")


class _OptionalAddress(TyperCommand):
    """A command whose option --dask may stand alone."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Give the option its usual value where no address follows."""
        filled = [
            f"{DASK}={LOCAL}" if word == DASK and not _ADDRESS.match(after) else word
            for word, after in zip_longest(args, args[1:], fillvalue="")
        ]
        return super().parse_args(ctx, filled)


@dataclass(frozen=True, kw_only=True)
class Changes:
    """What takes the place of something in the scenario."""

    replications: Replications = None
    seed: Annotated[int | None, typer.Option(min=0, help="Instead of the scenario's.")] = None
    law: Annotated[Law | None, typer.Option(help="Instead of the scenario's.")] = None
    order: Annotated[
        Literal["random", "updates-first", "ticks-first", "fifo"] | None,
        typer.Option(help="Which messages of one time unit go first, instead of the scenario's."),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Sought:
    """How well figures are to be known."""

    precision: Annotated[
        str | None,
        typer.Option(help="Run until the first figure is known so well, for example 1%."),
    ] = None
    max_replications: Annotated[
        int | None,
        typer.Option(min=2, show_default="10000", help="Most runs per cell with --precision."),
    ] = None

    def replications(self, changes: Changes, trace: bool) -> int | None:
        """Give the most runs of a cell. Raises BadParameter for options that exclude each other."""
        if self.precision is not None:
            _refuse("--precision", ("--replications", changes.replications), ("--trace", trace))
            return self.max_replications or _MOST_REPLICATIONS
        if self.max_replications is not None:
            raise typer.BadParameter("is for --precision only", param_hint="--max-replications")
        return changes.replications


@app.command(cls=_OptionalAddress)
@grouped
def compare(
    scenario: ScenarioName,
    out: Annotated[Path, typer.Option(help="Directory for results and report.")],
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a run, also with more --replications.")
    ] = False,
    workers: Workers = None,
    dask: Annotated[
        str | None,
        typer.Option(
            DASK, help="Run on Dask: a scheduler such as tcp://host:8786; alone: on this machine."
        ),
    ] = None,
    changes: Changes = Changes(),
    orders: Annotated[
        bool, typer.Option(help="Run other orders too, to tell the policy from the race.")
    ] = True,
    sought: Sought = Sought(),
    trace: Annotated[bool, typer.Option("--trace", help="Keep every message served.")] = False,
    engine: EngineName = "auto",
    plugin: Plugins = None,
) -> None:
    """Compare policies: tables, charts, data and a report of a scenario."""
    from rebecsim.report.charts.figures import DRAWING_MODULES
    from rebecsim.studies.running.executors import (
        available_workers,
        simulation_modules,
        start_server,
    )
    from rebecsim.studies.scenarios.scenario_files import read_scenario_text

    replications = sought.replications(changes, trace)
    if dask is not None:
        _require_cluster(dask, workers)
    count = workers or available_workers()
    text = read_scenario_text(scenario)
    if dask is None and text.values.get("kind") == "dispatch":
        # While this process imports other things.
        start_server(count, (*simulation_modules(engine), *DRAWING_MODULES))
    leave_pandas_alone()

    from rebecsim.clusters.scenarios import load
    from rebecsim.clusters.workers import dask_with_plugins, executor_with_plugins
    from rebecsim.report import report_view, write_report
    from rebecsim.report.comparison import compared
    from rebecsim.studies.running.comparing import StudyRunner
    from rebecsim.studies.running.runner import PlannedRun
    from rebecsim.studies.storage.results import Results
    from rebecsim.studies.study import How

    use_plugins(plugin)
    loaded = load(text)
    given = {
        "law": changes.law,
        "order": changes.order,
        "orders": not orders,
        "trace": trace,
        "engine": engine != "auto",
    }
    _require_meaning(loaded.study, given)
    plan = loaded.plan(
        replications=replications,
        seed=changes.seed,
        precision=sought.precision,
        choice_law=changes.law,
        order=changes.order,
    )
    # What is wrong shows before anything is written.
    plan.study.prepare(plan, How(engine, trace), complain)
    # Whoever simulates, this process has time for what it needs afterwards.
    later = DRAWING_MODULES[-1] if count == 1 else "scipy.special"
    threading.Thread(target=import_module, args=(later,), daemon=True).start()
    with (
        executor_with_plugins(count, plan.study.modules(engine))
        if dask is None
        else dask_with_plugins(dask, count, plan, complain)
    ) as executor:
        run = PlannedRun(plan, Results.open(out, plan, resume), trace)
        showing = partial(showing_runs, f"{out}: go on with --resume")
        report = compared(run, StudyRunner(executor, engine, showing, complain), orders)
        written = write_report(report, out, executor)
    console().print(report_view(report))
    show_written(written, run.results.directory / "parts")


def _require_cluster(address: str, workers: int | None) -> None:
    """Refuse what has no meaning for a Dask cluster, and say so before anything else is done."""
    from rebecsim.studies.running.dask_executor import require_dask

    if address != LOCAL:
        _refuse("an address of --dask", ("--workers", workers))
    require_dask()


def _require_meaning(study: Study, given: Mapping[str, object]) -> None:
    """Refuse options that have no meaning for a kind."""
    for name, value in given.items():
        if value and name not in study.options:
            option = f"--{'no-' if name == 'orders' else ''}{name}"
            raise typer.BadParameter(
                f"is not for scenarios of the kind {study.kind}", param_hint=option
            )


@app.command()
def reproduce(
    name: Annotated[
        str | None,
        typer.Argument(help="A published scenario, or capacity; default: all scenarios."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Keep the results in this directory.")] = None,
    page: Annotated[
        Path | None,
        typer.Option(dir_okay=False, help="Run other orders too, and write a page (Markdown)."),
    ] = None,
    workers: Workers = None,
    replications: Replications = None,
    engine: EngineName = "auto",
    quick: Annotated[
        bool, typer.Option("--quick", help="capacity: eight experiments, twice each.")
    ] = False,
) -> None:
    """Run the published scenarios and put the figures beside the published ones.

    Ours are under the choice law of the original tool; the fair law stands beside them. capacity
    are the experiments on Hadoop's Capacity Scheduler. With --out, a run that was interrupted goes
    on where it stopped.
    """
    leave_pandas_alone()
    if name == _CAPACITY:
        _reproduce_capacity(_Wanted(out, page, workers, replications, quick))
        return
    if quick:
        raise typer.BadParameter(f"is for {_CAPACITY} only", param_hint="--quick")
    from rebecsim.clusters.dispatch.published import tables_of
    from rebecsim.clusters.dispatch.report.reproduction import (
        reproduction_rows,
        reproduction_table,
    )
    from rebecsim.clusters.dispatch.report.reproduction_page import reproduction_page
    from rebecsim.clusters.dispatch.study import STUDY
    from rebecsim.clusters.workers import executor_with_plugins
    from rebecsim.files import write_atomically
    from rebecsim.studies.running.comparing import StudyRunner
    from rebecsim.studies.running.executors import available_workers

    _require_place(page)
    count = workers or available_workers()
    modules = STUDY.modules(engine)
    with kept_or_temporary(out) as directory, executor_with_plugins(count, modules) as executor:
        showing = partial(showing_runs, f"{directory}: go on with the same command")
        runner = StudyRunner(executor, engine, showing, complain)
        found = [
            _reproduced(table, directory, runner, replications, with_page=page is not None)
            for table in tables_of(name)
        ]
    rows = [row for each in found for row in reproduction_rows(each.reproduction)]
    console().print(reproduction_table(rows, "Published scenarios"))
    if page is not None:
        text = reproduction_page([each.reproduction for each in found], _page_settings(name, found))
        write_atomically(page, text.encode())
        say(f"page  {page}")


@dataclass(frozen=True)
class _Wanted:
    """What is asked for of the experiments on the Capacity Scheduler."""

    out: Path | None
    page: Path | None
    workers: int | None
    replications: int | None
    quick: bool


def _reproduce_capacity(wanted: _Wanted) -> None:
    """Run these experiments, and show the published figures beside ours."""
    from rebecsim.clusters.mapreduce.reproduction.published import published
    from rebecsim.clusters.mapreduce.reproduction.report import (
        reproduction_markdown,
        reproduction_view,
    )
    from rebecsim.clusters.mapreduce.reproduction.running import Extent, reproduce_capacity
    from rebecsim.clusters.mapreduce.study import STUDY
    from rebecsim.clusters.workers import executor_with_plugins
    from rebecsim.files import write_atomically
    from rebecsim.studies.running.comparing import StudyRunner
    from rebecsim.studies.running.executors import available_workers

    page, extent = wanted.page, Extent(wanted.quick, wanted.replications)
    _require_place(page)
    count = wanted.workers or available_workers()
    with (
        kept_or_temporary(wanted.out) as directory,
        executor_with_plugins(count, STUDY.modules("auto")) as executor,
    ):
        showing = partial(showing_runs, f"{directory}: go on with the same command")
        runner = StudyRunner(executor, "auto", showing, complain)
        found = reproduce_capacity(directory, runner, extent)
    console().print(reproduction_view(found, published()))
    if page is not None:
        text = reproduction_markdown(found, published(), extent)
        write_atomically(page, text.encode())
        say(f"page  {page}")


def _require_place(page: Path | None) -> None:
    if page is not None and not page.parent.is_dir():
        raise typer.BadParameter(f"there is no directory {page.parent}", param_hint="--page")


@dataclass(frozen=True)
class _Reproduced:
    """A published table with our runs of it, and how they were made."""

    reproduction: Reproduction
    scenario: Scenario
    order_replications: int
    versions: Mapping[str, str]


def _reproduced(
    table: PublishedTable,
    directory: Path,
    runner: StudyRunner,
    replications: int | None,
    with_page: bool,
) -> _Reproduced:
    """Run a published scenario in every variant that is wanted."""
    from rebecsim.clusters.dispatch.published import reproduction_scenarios
    from rebecsim.clusters.dispatch.report.reproduction import Reproduction
    from rebecsim.clusters.scenarios import load_scenario, plan_scenario
    from rebecsim.studies.running.comparing import planned

    built_in = load_scenario(table.scenario).replace(replications=replications)
    scenarios = reproduction_scenarios(built_in, corrected=with_page)
    runs = {
        variant: _kept(plan_scenario(scenario), directory / f"{table.scenario}_{variant}")
        for variant, scenario in scenarios.items()
    }
    main = runs["rmc"]
    original = main.plan.scenario
    plans = main.plan.beside(original.replications) if with_page else {}
    orders = {order: planned(plan, main.results, order) for order, plan in plans.items()}
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
        original,
        max((plan.scenario.replications for plan in plans.values()), default=0),
        main.results.record()["versions"],
    )


def _kept(plan: Plan, directory: Path) -> PlannedRun:
    from rebecsim.studies.running.runner import PlannedRun
    from rebecsim.studies.storage.results import Results

    return PlannedRun(plan, Results.resume(directory, plan))


def _page_settings(name: str | None, found: Sequence[_Reproduced]) -> PageSettings:
    from rebecsim.clusters.dispatch.report.reproduction_page import PageSettings

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


@contextmanager
def kept_or_temporary(kept: Path | None) -> Iterator[Path]:
    """Give the directory that results are kept in, or one that is removed afterwards."""
    if kept is not None:
        yield kept
        return
    with tempfile.TemporaryDirectory(prefix="rebecsim-") as directory:
        yield Path(directory)


def _refuse(option: str, *others: tuple[str, object]) -> None:
    for name, given in others:
        if given:
            raise typer.BadParameter(f"cannot be given with {name}", param_hint=option)


def show_written(written: WrittenReport, *more: Path) -> None:
    """Say where the files of a report are."""
    say(f"report  {written.html}")
    if written.charts:
        say(f"charts  {written.charts[0].parent}")
    say(f"data    {', '.join(map(str, (*written.data, *more)))}")


@contextmanager
def showing_runs(advice: str, runs: Sequence[PlannedRun]) -> Iterator[Bar]:
    """Show a progress bar while the block works; when it is interrupted, say how to go on."""
    from concurrent.futures import BrokenExecutor
    from concurrent.futures.process import BrokenProcessPool

    from rebecsim.report.progress import progress_bar

    try:
        with progress_bar(runs, error_console()) as bar:
            yield bar
    except KeyboardInterrupt:
        complain(f"interrupted; finished cells are in {advice}")
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    except BrokenProcessPool as error:
        raise WorkerKilledError(advice) from error
    except BrokenExecutor as error:
        raise WorkerKilledError(advice, str(error)) from error
