"""The command `workflow`: describe, draw and run a workflow with a deadline."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rebecsim.cli.app import Plugins, app, console, grouped, say, use_plugins
from rebecsim.cli.running import SizeOptions, sized
from rebecsim.clusters.kit.options import option
from rebecsim.errors import UserError
from rebecsim.extras import require

if TYPE_CHECKING:
    from rebecsim.clusters.stages.job import StageTask
    from rebecsim.clusters.stages.managers.manager import StageManager
    from rebecsim.clusters.stages.resources import StageResource


@dataclass(frozen=True, kw_only=True)
class DeadlineOptions:
    """The deadline of the workflow."""

    deadline: float | None = option("Deadline of the workflow, s.", min=0.001)
    multiplier: float | None = option(
        "Deadline as a multiple of its run time alone.", min=1, show_default="2"
    )


@dataclass(frozen=True, kw_only=True)
class ResourceOptions:
    """What the workflow runs on."""

    resources: int = option("Number of resources.", 10, min=1, max=10**5)
    slots: int = option("Slots of each resource.", 2, min=1, max=10**4)


@app.command()
@grouped
def workflow(
    file: Annotated[
        Path,
        typer.Argument(help="A DAX (.xml, .dax) or WfCommons (.json).", show_default=False),
    ],
    draw: Annotated[
        Path | None, typer.Option(dir_okay=False, help="Draw its graph to this file, .svg or .png.")
    ] = None,
    manager: Annotated[
        list[str] | None,
        typer.Option(help="Run it under this resource manager; repeatable."),
    ] = None,
    by: DeadlineOptions = DeadlineOptions(),
    on: ResourceOptions = ResourceOptions(),
    gantt: Annotated[
        Path | None,
        typer.Option(dir_okay=False, help="Draw a Gantt chart, .svg or .png."),
    ] = None,
    limits: SizeOptions = SizeOptions(),
    plugin: Plugins = None,
) -> None:
    """Describe, draw and run a workflow that has a deadline."""
    from rebecsim.clusters.stages.inputs import size_of_tasks
    from rebecsim.clusters.stages.job import WorkflowShape
    from rebecsim.clusters.stages.report.workflow import (
        draw_workflow,
        groups_table,
        require_drawing,
        shape_table,
    )
    from rebecsim.clusters.stages.resources import identical
    from rebecsim.clusters.stages.workflows import read_workflow
    from rebecsim.files import Size

    use_plugins(plugin)
    _require_sense(manager, by, gantt, limits)
    makers = _makers(manager or [])
    tasks = read_workflow(file)
    size = Size.of([(len(makers), size_of_tasks(1, len(tasks)))]) if makers else None
    with sized(size, limits):
        shape = WorkflowShape(tasks)
        if draw is not None:
            require_drawing(shape, file.name, draw)
        console().print(shape_table(shape))
        console().print(groups_table(shape))
        if draw is not None:
            draw_workflow(shape, file.name, draw)
            say(f"drawing in {draw}")
        if makers:
            resources = identical(on.resources, on.slots)
            _run(file.stem, tasks, makers, resources, _deadline(tasks, resources, by), gantt)


def _require_sense(
    manager: list[str] | None, by: DeadlineOptions, gantt: Path | None, limits: SizeOptions
) -> None:
    """Raise BadParameter or UserError for options that do not fit together."""
    from rebecsim.report.figures import require_picture_name
    from rebecsim.workloads.workflows import LONGEST_TASK

    for name, number in (("--deadline", by.deadline), ("--multiplier", by.multiplier)):
        if number is not None and not number <= LONGEST_TASK:  # NaN too
            raise UserError(f"{name}: should be at most {LONGEST_TASK:,}, not {number:g}")
    if by.deadline is not None and by.multiplier is not None:
        raise typer.BadParameter("cannot be given with --deadline", param_hint="--multiplier")
    given = {
        "--deadline": by.deadline,
        "--multiplier": by.multiplier,
        "--gantt": gantt,
        "--dry-run": limits.dry_run,
    }
    for name, value in given.items():
        if value and not manager:
            raise typer.BadParameter("needs --manager, to run the workflow", param_hint=name)
    if gantt is not None:
        require("--gantt", "matplotlib", "pyarrow")
        require_picture_name(gantt)


def _makers(names: list[str]) -> dict[str, type[StageManager]]:
    """Find resource managers by their names, in any case. Raises UserError for an unknown one."""
    from rebecsim.clusters import UnknownNameError
    from rebecsim.clusters.stages.managers.registry import stages_policy

    try:
        return {each: stages_policy(each).manager for each in map(str.upper, names)}
    except UnknownNameError as error:
        raise UserError(f"--manager: {error}") from error


def _run(
    name: str,
    tasks: tuple[StageTask, ...],
    makers: dict[str, type[StageManager]],
    resources: tuple[StageResource, ...],
    deadline: int,
    gantt: Path | None,
) -> None:
    """Run a workflow alone under each manager, and show when it ended."""
    from rebecsim.clusters.stages.cluster import run_stages
    from rebecsim.clusters.stages.job import SECOND, StageJob
    from rebecsim.clusters.stages.report.workflow import outcome_table
    from rebecsim.wording import counted

    job = StageJob(0, 0, 0, deadline, tasks, name)
    runs = {each: run_stages([job], resources, maker) for each, maker in makers.items()}
    on = counted(len(resources), "resource")
    say(f"due after {deadline / SECOND:,.1f} s, on {on} of {counted(resources[0].slots, 'slot')}")
    console().print(outcome_table(runs))
    if gantt is not None:
        from rebecsim.clusters.stages.report.charts import workflow_gantt
        from rebecsim.report.figures import write_figure

        write_figure(gantt, lambda: workflow_gantt(runs, name))
        say(f"drawing in {gantt}")


def _deadline(
    tasks: tuple[StageTask, ...], resources: tuple[StageResource, ...], by: DeadlineOptions
) -> int:
    """Give the deadline of a workflow (ms). Raises UserError for one of 0 ms."""
    from rebecsim.clusters.stages.job import SECOND, StageJob
    from rebecsim.clusters.stages.workloads import with_deadline

    if by.deadline is None:
        bare = StageJob(0, 0, 0, 0, tasks)
        return with_deadline(bare, resources, by.multiplier or 2.0).deadline
    deadline = round(by.deadline * SECOND)
    if deadline == 0:
        raise UserError("--deadline: should be at least 0.001 s")
    return deadline
