"""Commands about comparisons: scenarios, compare, reproduce."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
    err,
    say,
    use_plugins,
)
from rebecsim.cli.app import out as out_console
from rebecsim.cli.workload_scenarios import compare_workload

if TYPE_CHECKING:
    from rebecsim.experiments import Plan, Results, Scenario
    from rebecsim.experiments.published import PublishedTable
    from rebecsim.report import WrittenReport
    from rebecsim.report.reproduce import Reproduction
    from rebecsim.report.reproduction_page import PageSettings
    from rebecsim.simulate import Engine

_MOST_REPLICATIONS = 10_000
"""Runs per cell after which a wanted precision is given up, unless the user says otherwise."""


@dataclass(frozen=True)
class Runner:
    """What the user said on how to run: worker processes (None: one per processor), and engine."""

    workers: int | None
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
    from rebecsim.experiments import load_scenario, plan_scenario
    from rebecsim.experiments.order_runs import order_directory, order_plans, stored_orders
    from rebecsim.experiments.scenario_files import read_scenario_text
    from rebecsim.report import report_view, write_report
    from rebecsim.report.comparison import report_input

    use_plugins(plugin)
    text = read_scenario_text(scenario)
    if text.is_of_workload:
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
    loaded = load_scenario(scenario).replace(
        replications=replications,
        seed=seed,
        choice_law=law.value if law else None,
        order=order.value if order else None,
        precision=precision,
    )
    results = _results(out, loaded, resume)
    plan = plan_scenario(loaded)
    advice = f"{out}: go on with --resume"
    runner = Runner(workers, engine.value)
    # Workers simulate meanwhile.
    threading.Thread(target=import_module, args=("matplotlib.figure",), daemon=True).start()
    done = _run(plan, results, runner, advice, trace=trace)
    for name, other in order_plans(plan, done).items() if orders else ():
        directory = order_directory(results, name)
        existing = (directory / "run.json").exists()
        _run(other, _results(directory, other.scenario, existing), runner, advice)
    report = report_input(plan, results, stored_orders(plan, results) if orders else None)
    written = write_report(report, out)
    out_console.print(report_view(report))
    show_written(written, results.directory / "parts")


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
    from rebecsim.experiments.files import write_atomically
    from rebecsim.experiments.published import tables_of
    from rebecsim.report import reproduction_table
    from rebecsim.report.reproduce import reproduction_rows
    from rebecsim.report.reproduction_page import reproduction_page

    if page is not None and not page.parent.is_dir():
        raise typer.BadParameter(f"there is no directory {page.parent}", param_hint="--page")
    runner = Runner(workers, engine.value)
    with _directory(out) as directory:
        found = [
            _reproduced(table, directory, runner, replications, with_page=page is not None)
            for table in tables_of(name)
        ]
    rows = [row for each in found for row in reproduction_rows(each.reproduction)]
    out_console.print(reproduction_table(rows, "Published scenarios"))
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
    from rebecsim.experiments import plan_scenario
    from rebecsim.experiments.order_runs import order_directory, order_plans
    from rebecsim.report.reproduce import Reproduction, reproduction_scenarios

    def run(plan: Plan, place: Path) -> Results:
        results = _results(place, plan.scenario, resume=(place / "run.json").exists())
        _run(plan, results, runner, f"{place}: go on with the same command")
        return results

    scenarios = reproduction_scenarios(table, replications, corrected=with_page)
    plans = {variant: plan_scenario(scenario) for variant, scenario in scenarios.items()}
    results = {
        variant: run(plan, directory / f"{table.scenario}_{variant}")
        for variant, plan in plans.items()
    }
    original = scenarios["rmc"]
    others = order_plans(plans["rmc"], original.replications) if with_page else {}
    moments = {variant: results[variant].moments(plan) for variant, plan in plans.items()}
    return _Reproduced(
        Reproduction(
            table=table,
            ours=moments["rmc"],
            fair=moments["fair"],
            corrected=moments.get("corrected", ()),
            orders={
                order: run(plan, order_directory(results["rmc"], order)).moments(plan)
                for order, plan in others.items()
            },
        ),
        original,
        max((plan.scenario.replications for plan in others.values()), default=0),
        results["rmc"].record()["versions"],
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


def _run(plan: Plan, results: Results, runner: Runner, advice: str, *, trace: bool = False) -> int:
    """Run a plan under a progress bar; gives the replications of each cell."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from rebecsim.experiments import available_workers, run_plan
    from rebecsim.experiments.sequential import precision_of, run_until_precise

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("runs"),
        TimeElapsedColumn(),
    )
    scenario = plan.scenario
    target = precision_of(plan)
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task(f"{scenario.name} ({scenario.choice_law} law, {scenario.order} order)")

        def run(replications: int | None) -> None:
            total = len(plan.cells) * (replications or scenario.replications)
            bar.reset(task, total=total)
            run_plan(
                plan,
                results,
                workers=runner.workers or available_workers(),
                engine=runner.engine,
                trace=trace,
                replications=replications,
                progress=lambda finished: bar.advance(task, finished),
                warn=complain,
            )

        try:
            if target is not None:
                return run_until_precise(plan, results, target, run)
            run(None)
        except KeyboardInterrupt:
            bar.stop()
            err.print(f"interrupted; finished cells are in {advice}", markup=False, soft_wrap=True)
            raise typer.Exit(130) from None
    return scenario.replications
