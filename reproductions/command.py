"""The command `reproduce`: run published experiments again."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rebecsim.cli.app import EngineName, Replications, Workers, complain, console, grouped, say
from rebecsim.cli.running import SizeOptions, kept_or_temporary, showing_runs, sized
from rebecsim.extras import REPORTS, leave_pandas_alone, require

if TYPE_CHECKING:
    from rebecsim.native.engines import Engine
    from reproductions.framework import Experiments

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

    The figures use the choice law of the original tool; those under the fair law stand beside
    them. capacity has the experiments on Hadoop's Capacity Scheduler, workflows those on WFBB-RM,
    deadlines those on MRCP-RM and HCP-RM. With --out, an interrupted run resumes.
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
    if quick and name not in (_CAPACITY, _WORKFLOWS, _DEADLINES):
        names = f"{_CAPACITY}, {_WORKFLOWS} and {_DEADLINES}"
        raise typer.BadParameter(f"is for {names} only", param_hint="--quick")
    asked = quick, replications, _listed(tables), _listed(parts)
    _run(_experiments(name, asked, page is not None), _Wanted(out, page, workers, engine, limits))


@dataclass(frozen=True)
class _Wanted:
    """Where runs and page go, and how runs are made."""

    out: Path | None
    page: Path | None
    workers: int | None
    engine: Engine
    limits: SizeOptions


def _experiments(
    name: str | None,
    asked: tuple[bool, int | None, tuple[str, ...], tuple[str, ...]],
    with_page: bool,
) -> Experiments[Any]:
    """Give the experiments of a name, as much of them as the fields of an `Extent` say."""
    if name == _CAPACITY:
        from reproductions.capacity.experiments import CapacityExperiments
        from reproductions.capacity.running import CapacityExtent

        return CapacityExperiments(CapacityExtent(*asked))
    if name == _WORKFLOWS:
        from reproductions.workflows.experiments import WorkflowExperiments
        from reproductions.workflows.running import WorkflowExtent

        return WorkflowExperiments(WorkflowExtent(*asked))
    if name == _DEADLINES:
        from reproductions.deadlines.experiments import DeadlineExperiments
        from reproductions.deadlines.running import DeadlineExtent

        return DeadlineExperiments(DeadlineExtent(*asked))
    from reproductions.dispatch.experiments import ScenarioExperiments

    _, replications, *_ = asked
    return ScenarioExperiments(name, replications, with_page)


def _run(experiments: Experiments[Any], wanted: _Wanted) -> None:
    """Run published experiments, and show the published figures beside ours."""
    from rebecsim.clusters.kinds import executor_with_plugins
    from rebecsim.files import write_atomically
    from rebecsim.report import write_report
    from rebecsim.report.comparison import report_input
    from rebecsim.studies.executors import available_workers
    from rebecsim.studies.plan import plan_size
    from rebecsim.studies.results import Results
    from rebecsim.studies.running import StudyRunner
    from rebecsim.studies.study import modules_of
    from reproductions.framework import run_experiments

    page, plans = wanted.page, experiments.plans()
    every = [*plans.values(), *experiments.orders().values()]
    _require_place(page)
    count = wanted.workers or available_workers()
    modules = modules_of(every[0].study, wanted.engine)
    with (
        sized(plan_size(every, count), wanted.limits) as watch,
        kept_or_temporary(wanted.out) as directory,
        executor_with_plugins(count, modules) as executor,
    ):
        advice = f"{directory}: go on with the same command"
        showing = partial(showing_runs, advice, watch=watch)
        runner = StudyRunner(executor, wanted.engine, showing, complain)
        found = run_experiments(experiments, directory, runner)
        if wanted.out is not None:
            for name, plan in plans.items():
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
