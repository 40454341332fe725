"""Commands about comparisons: scenarios, compare, reproduce."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from rebecsim.cli.app import (
    EngineChoice,
    EngineName,
    Law,
    Plugins,
    Replications,
    ScenarioName,
    Workers,
    app,
    complain,
    console,
    error_console,
    say,
    use_plugins,
)
from rebecsim.cli.workload_scenarios import compare_workload
from rebecsim.errors import WorkerKilledError
from rebecsim.exit_codes import ExitCode

if TYPE_CHECKING:
    from rebecsim.experiments import Plan, PlannedRun, Results, Scenario
    from rebecsim.experiments.published import PublishedTable
    from rebecsim.experiments.worker_pool import WorkerPool
    from rebecsim.report import WrittenReport
    from rebecsim.report.reproduce import Reproduction
    from rebecsim.report.reproduction_page import PageSettings
    from rebecsim.simulate import Engine

_MOST_REPLICATIONS = 10_000
"""Runs per cell after which a wanted precision is given up, unless the user says otherwise."""


@dataclass(frozen=True)
class Runner:
    """How to run: on which worker processes (None: on this one), and engine."""

    pool: WorkerPool | None
    engine: Engine


class MessageOrder(StrEnum):
    """Which messages of one time unit go first."""

    random = "random"
    updates_first = "updates-first"
    ticks_first = "ticks-first"
    fifo = "fifo"


@app.command()
def scenarios(plugin: Plugins = None) -> None:
    """List the built-in scenarios; with --plugin, see whether plug-ins can be loaded."""
    from rebecsim.experiments import builtin_scenarios, load_scenario
    from rebecsim.experiments.scenario_files import builtin_workload_scenarios
    from rebecsim.experiments.workload_scenario import load_workload_scenario

    use_plugins(plugin)
    for name in builtin_scenarios():
        say(f"{name:<24} {load_scenario(name).heading}")
    for name in builtin_workload_scenarios():
        say(f"{name:<24} {load_workload_scenario(name).scenario.heading}")


@app.command()
def compare(
    scenario: ScenarioName,
    out: Annotated[Path, typer.Option(help="Directory for results and report.")],
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run.")] = False,
    workers: Workers = None,
    replications: Replications = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Instead of the scenario's.")] = None,
    law: Annotated[Law | None, typer.Option(help="Instead of the scenario's.")] = None,
    order: Annotated[
        MessageOrder | None,
        typer.Option(help="Which messages of one time unit go first, instead of the scenario's."),
    ] = None,
    orders: Annotated[
        bool, typer.Option(help="Run other orders too, to tell the policy from the race.")
    ] = True,
    precision: Annotated[
        str | None,
        typer.Option(help="Run until deadline misses are known so well, for example 1%."),
    ] = None,
    max_replications: Annotated[
        int | None,
        typer.Option(min=2, help="Most runs per cell with --precision.  [default: 10000]"),
    ] = None,
    trace: Annotated[bool, typer.Option("--trace", help="Keep every message served.")] = False,
    engine: EngineName = EngineChoice.auto,
    plugin: Plugins = None,
) -> None:
    """Compare policies: tables, charts, data and a report of a scenario."""
    from rebecsim.experiments.scenario_files import read_scenario_text
    from rebecsim.experiments.worker_pool import (
        available_workers,
        simulation_modules,
        start_server,
        worker_pool,
    )
    from rebecsim.report import DRAWING_MODULES

    text = read_scenario_text(scenario)
    if text.is_of_workload:
        use_plugins(plugin)
        _require_for_workloads(law, order, orders, precision, max_replications, trace, engine)
        compare_workload(
            text,
            out,
            resume=resume,
            workers=workers,
            replications=replications,
            seed=seed,
            plugins=plugin or (),
        )
        return
    if precision is not None:
        _refuse("--precision", ("--replications", replications), ("--trace", trace))
        replications = max_replications or _MOST_REPLICATIONS
    elif max_replications is not None:
        raise typer.BadParameter("is for --precision only", param_hint="--max-replications")
    count = workers or available_workers()
    # While this process imports other things.
    start_server(count, (*simulation_modules(engine.value), *DRAWING_MODULES))

    from rebecsim.experiments import PlannedRun, load_scenario, plan_scenario
    from rebecsim.experiments.order_runs import stored_orders
    from rebecsim.report import report_view, write_report
    from rebecsim.report.comparison import report_input

    use_plugins(plugin)
    loaded = load_scenario(scenario).replace(
        replications=replications,
        seed=seed,
        choice_law=law.value if law else None,
        order=order.value if order else None,
        precision=precision,
    )
    run = PlannedRun(plan_scenario(loaded), _results(out, loaded, resume), trace)
    # Whoever simulates, this process has time for what it needs afterwards.
    later = DRAWING_MODULES[-1] if count == 1 else "scipy.special"
    threading.Thread(target=import_module, args=(later,), daemon=True).start()
    with worker_pool(count) as pool:
        _compare(run, Runner(pool, engine.value), f"{out}: go on with --resume", orders)
        stored = stored_orders(run.plan, run.results) if orders else None
        report = report_input(run.plan, run.results, stored)
        written = write_report(report, out, pool)
    console().print(report_view(report))
    show_written(written, run.results.directory / "parts")


def _compare(run: PlannedRun, runner: Runner, advice: str, orders: bool) -> None:
    """Run a comparison, and the same in other message orders if that is wanted."""
    from rebecsim.experiments.sequential import precision_of

    if precision_of(run.plan) is not None:
        done = _run_until_precise(run, runner, advice)
        others = _in_other_orders(run, done) if orders else []
        if others:
            _run(others, runner, advice)
        return
    others = _in_other_orders(run, run.plan.scenario.replications) if orders else []
    _run([run, *others], runner, advice)


def _in_other_orders(run: PlannedRun, replications: int) -> list[PlannedRun]:
    """Plan a comparison in other orders, `replications` being those of each of its cells."""
    from rebecsim.experiments import PlannedRun
    from rebecsim.experiments.order_runs import order_directory, order_plans

    runs = []
    for name, plan in order_plans(run.plan, replications).items():
        directory = order_directory(run.results, name)
        existing = (directory / "run.json").exists()
        runs.append(PlannedRun(plan, _results(directory, plan.scenario, existing)))
    return runs


@app.command()
def reproduce(
    name: Annotated[str | None, typer.Argument(help="A published scenario; default: all.")] = None,
    out: Annotated[Path | None, typer.Option(help="Keep the results in this directory.")] = None,
    page: Annotated[
        Path | None,
        typer.Option(dir_okay=False, help="Run other orders too, and write a page (Markdown)."),
    ] = None,
    workers: Workers = None,
    replications: Replications = None,
    engine: EngineName = EngineChoice.auto,
) -> None:
    """Run the published scenarios and put the figures beside the published ones.

    Ours are under the choice law of the original tool; the fair law stands beside them. With
    --out, a run that was interrupted goes on where it stopped.
    """
    from rebecsim.experiments.published import tables_of
    from rebecsim.experiments.worker_pool import (
        available_workers,
        simulation_modules,
        worker_pool,
    )
    from rebecsim.files import write_atomically
    from rebecsim.report import reproduction_table
    from rebecsim.report.reproduce import reproduction_rows
    from rebecsim.report.reproduction_page import reproduction_page

    if page is not None and not page.parent.is_dir():
        raise typer.BadParameter(f"there is no directory {page.parent}", param_hint="--page")
    count, modules = workers or available_workers(), simulation_modules(engine.value)
    with _directory(out) as directory, worker_pool(count, modules) as pool:
        runner = Runner(pool, engine.value)
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
class _Reproduced:
    """A published table with our runs of it, and how they were made."""

    reproduction: Reproduction
    scenario: Scenario
    order_replications: int
    versions: Mapping[str, str]


def _reproduced(
    table: PublishedTable,
    directory: Path,
    runner: Runner,
    replications: int | None,
    with_page: bool,
) -> _Reproduced:
    """Run a published scenario in every variant that is wanted."""
    from rebecsim.experiments import PlannedRun, plan_scenario
    from rebecsim.experiments.order_runs import order_directory, order_plans
    from rebecsim.report.reproduce import Reproduction, reproduction_scenarios

    def planned(plan: Plan, place: Path) -> PlannedRun:
        existing = (place / "run.json").exists()
        return PlannedRun(plan, _results(place, plan.scenario, resume=existing))

    scenarios = reproduction_scenarios(table, replications, corrected=with_page)
    runs = {
        variant: planned(plan_scenario(scenario), directory / f"{table.scenario}_{variant}")
        for variant, scenario in scenarios.items()
    }
    main = runs["rmc"]
    original = main.plan.scenario
    plans = order_plans(main.plan, original.replications) if with_page else {}
    orders = {
        order: planned(plan, order_directory(main.results, order)) for order, plan in plans.items()
    }
    everything = [*runs.values(), *orders.values()]
    _run(everything, runner, f"{directory}: go on with the same command")
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


def _page_settings(name: str | None, found: Sequence[_Reproduced]) -> PageSettings:
    from rebecsim.report.reproduction_page import PageSettings

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
def _directory(kept: Path | None) -> Iterator[Path]:
    if kept is not None:
        yield kept
        return
    with tempfile.TemporaryDirectory(prefix="rebecsim-") as directory:
        yield Path(directory)


def _results(directory: Path, scenario: Scenario, resume: bool) -> Results:
    from rebecsim.experiments import Results

    return (Results.resume if resume else Results.create)(directory, scenario)


def _refuse(option: str, *others: tuple[str, object]) -> None:
    for name, given in others:
        if given:
            raise typer.BadParameter(f"cannot be given with {name}", param_hint=option)


def _require_for_workloads(
    law: Law | None,
    order: MessageOrder | None,
    orders: bool,
    precision: str | None,
    max_replications: int | None,
    trace: bool,
    engine: EngineChoice,
) -> None:
    """Refuse what has no meaning for schedules of a workload."""
    for option, given in (
        ("--law", law),
        ("--order", order),
        ("--no-orders", not orders),
        ("--precision", precision),
        ("--max-replications", max_replications),
        ("--trace", trace),
        ("--engine", engine is not EngineChoice.auto),
    ):
        if given:
            raise typer.BadParameter(
                "is for scenarios of generated models; this one is about a workload",
                param_hint=option,
            )


def show_written(written: WrittenReport, *more: Path) -> None:
    """Say where the files of a report are."""
    say(f"report  {written.html}")
    say(f"charts  {written.charts[0].parent}")
    say(f"data    {', '.join(map(str, (*written.data, *more)))}")


def _run(runs: Sequence[PlannedRun], runner: Runner, advice: str) -> None:
    """Run plans under a progress bar."""
    from rebecsim.experiments import run_plans

    total = sum(len(run.plan.cells) * run.plan.scenario.replications for run in runs)
    with _progress(runs, advice) as bar:
        bar.start(total)
        run_plans(runs, runner.pool, engine=runner.engine, progress=bar.advance, warn=complain)


def _run_until_precise(run: PlannedRun, runner: Runner, advice: str) -> int:
    """Run a plan until it is as precise as its scenario asks; gives the runs of each cell."""
    from rebecsim.experiments import run_plans
    from rebecsim.experiments.sequential import precision_of, run_until_precise

    target = precision_of(run.plan)
    assert target is not None
    with _progress([run], advice) as bar:

        def more(replications: int) -> None:
            bar.start(len(run.plan.cells) * replications)
            run_plans(
                [replace(run, replications=replications)],
                runner.pool,
                engine=runner.engine,
                progress=bar.advance,
                warn=complain,
            )

        return run_until_precise(run.plan, run.results, target, more)


class _Bar(NamedTuple):
    """A progress bar: `start` begins anew with a total, `advance` counts runs."""

    start: Callable[[int], None]
    advance: Callable[[int], None]


@contextmanager
def _progress(runs: Sequence[PlannedRun], advice: str) -> Iterator[_Bar]:
    """Show a progress bar while the block works; when it is interrupted, say how to go on."""
    from concurrent.futures.process import BrokenProcessPool

    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("runs"),
        TimeElapsedColumn(),
    )
    scenarios = [run.plan.scenario for run in runs]
    laws = "/".join(dict.fromkeys(each.choice_law for each in scenarios))
    orders = ", ".join(dict.fromkeys(each.order for each in scenarios))
    screen = error_console()
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bar:
        task = bar.add_task(f"{scenarios[0].name} ({laws} law, {orders} order)")
        try:
            yield _Bar(
                lambda total: bar.reset(task, total=total),
                lambda finished: bar.advance(task, finished),
            )
        except KeyboardInterrupt:
            bar.stop()
            complain(f"interrupted; finished cells are in {advice}")
            raise typer.Exit(ExitCode.INTERRUPTED) from None
        except BrokenProcessPool as error:
            bar.stop()
            raise WorkerKilledError(advice) from error
