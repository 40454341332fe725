"""The commands `workload info`, `generate`, `slice`, `convert` and `metrics`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from inspect import getdoc
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rebecsim.cli.app import app, console, grouped, say
from rebecsim.cli.containers import (
    AS_USUAL,
    NO_COLUMNS,
    Dialect,
    DrawnColumns,
    SwimOptions,
    convert_trace,
    generate_trace,
    refuse,
    show_containers,
    write_nodes,
)
from rebecsim.cli.logs import (
    Log,
    Processors,
    Size,
    Sort,
    holds_containers,
    read_log,
    require_log,
    told,
)
from rebecsim.clusters.kit.options import option
from rebecsim.errors import UserError
from rebecsim.extras import require

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rebecsim.workloads import Schedule, Workload
    from rebecsim.workloads.workload import Integers

workload_app = typer.Typer(
    no_args_is_help=True, help="Describe, generate, cut and convert workloads."
)
app.add_typer(workload_app, name="workload")


def _command(example: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a command whose help starts with an example; its name is the first word."""

    def registered(run: Callable[..., None]) -> Callable[..., None]:
        words = getdoc(run) or ""
        return workload_app.command(
            example.split()[0],
            help=f"Example: rebecsim workload {example}\n\n{words}",
            short_help=words.partition("\n\n")[0],
        )(run)

    return registered


Group = Literal["user", "queue"]
"""By what metrics are shown."""

AnyLog = Annotated[
    Path,
    typer.Argument(
        help="A log (SWF, PBS accounting); or jobs of containers: SLS (.json), SWIM (.tsv).",
        show_default=False,
    ),
]
AnyOut = Annotated[
    Path, typer.Option(help="The new file: .swf, .csv, either with .gz, .parquet; SLS: .json.")
]
Out = Annotated[Path, typer.Option(help="The new file: .swf, .swf.gz, .csv, .csv.gz, .parquet.")]


@dataclass(frozen=True, kw_only=True)
class ChosenOptions:
    """Options that choose jobs. Users and queues have numbers, or names from the header."""

    user: list[str] | None = option("Only this user, number or name; repeatable.")
    queue: list[str] | None = option("Only this queue, number or name; repeatable.")
    without_user: list[str] | None = option("Not this user; repeatable.")
    without_queue: list[str] | None = option("Not this queue; repeatable.")

    def numbers(self, workload: Workload) -> dict[str, list[int]]:
        """Give them as `transform.cut` takes them. Raises WorkloadError for an unknown name."""
        from rebecsim.workloads.logs import numbers_of

        return {
            "users": numbers_of(workload, "user", self.user or ()),
            "queues": numbers_of(workload, "queue", self.queue or ()),
            "without_users": numbers_of(workload, "user", self.without_user or ()),
            "without_queues": numbers_of(workload, "queue", self.without_queue or ()),
        }


@dataclass(frozen=True, kw_only=True)
class ShareOptions:
    """Options for the share that each user may expect, and the job ends that follow."""

    share: list[str] | None = option(
        "Processors every user may expect, or one user: alice=2; repeatable; for VEET, WT."
    )
    memory_share: int | None = option("Memory that every user may expect, in KB.", min=1)
    expected_ends: Literal["printed", "refined"] = option(
        "Algorithm 1 as printed, or without waste in a job's last second.", "printed"
    )
    usage_window: int | None = option(
        "Seconds of past usage that change what users may expect.", min=1
    )
    end_per: Literal["job", "bag", "workflow"] = option(
        "Jobs with one expected end: each, those of a bag, or of a workflow.", "job"
    )
    bag_gap: int = option("Most seconds between submissions of one bag.", 120, min=0)

    def ends(self, schedule: Schedule) -> Integers:
        """Give the expected ends of jobs. Raises UserError."""
        from rebecsim.metrics.expected_end import EndRules, expected_ends, shares_of

        rules = EndRules(
            algorithm=self.expected_ends,
            usage_window=self.usage_window,
            per=self.end_per,
            bag_gap=self.bag_gap,
        )
        try:
            shares = shares_of(schedule.workload, *self._shares())
            return expected_ends(schedule, shares, self.memory_share, rules)
        except UserError as error:
            raise UserError(f"{schedule.policy}: {error}") from error

    def title(self) -> str:
        """Give each user's expected share in words, for pictures."""
        share, by_user = self._shares()
        given = [f"{name} {processors:,}" for name, processors in by_user.items()]
        if share is not None:
            given.insert(0, f"{share:,} processors each")
        return f"Users who may expect {', '.join(given)}"

    def _shares(self) -> tuple[int | None, dict[str, int]]:
        """Give the share of all users, and those by user."""
        of_all: int | None = None
        by_user: dict[str, int] = {}
        for text in self.share or ():
            user, named, processors = text.rpartition("=")
            if not re.fullmatch("0*[1-9][0-9]{0,9}", processors) or (named and not user):
                raise UserError(f"--share {text}: give processors, 8, or a user's, alice=2")
            if named:
                by_user[user] = int(processors)
            else:
                of_all = int(processors)
        return of_all, by_user


Load = Annotated[float | None, typer.Option(help="Stretch arrivals to this offered load.")]


@_command("info log.swf")
@grouped
def info(
    log: AnyLog,
    chart: Path | None = option("Draw distributions: .png or .svg."),
    processors: Processors = None,
    size: Size = "requested",
    sort: Sort = False,
    swim: SwimOptions = AS_USUAL,
) -> None:
    """Show the jobs, users, load and distributions of a workload."""
    if holds_containers(log):
        refuse(_OF_SWF, chart=chart, processors=processors, sort=sort)
        show_containers(log, swim)
        return
    refuse(_OF_SWIM, **vars(swim))
    from rebecsim.clusters.batch.report.text import workload_view
    from rebecsim.workloads.summary import summarise

    workload = read_log(log, processors, size, sort)
    if chart is not None:
        from rebecsim.clusters.batch.report.log_chart import write_workload_chart

        write_workload_chart(workload, chart, workload.header.get("Computer", log.name))
    console().print(workload_view(str(log), summarise(workload)))
    if chart is not None:
        say(f"picture in {chart}")


@_command("generate --jobs 1000 --processors 128 --out jobs.swf")
@grouped
def generate(
    out: AnyOut,
    jobs: int | None = option("How many jobs.", min=1, show_default="10000, or 100 with --sls"),
    processors: int | None = option(
        "Processors of the machine.", min=2, show_default="128, or the log's"
    ),
    users: int | None = option("How many users.", min=1, show_default="1, or the log's"),
    like: Path | None = option("Draw users, each with all jobs, from this log; with --sls: dss."),
    load: Load = None,
    seed: int = option("Seed of all random choices.", 0, min=0),
    columns: DrawnColumns = NO_COLUMNS,
    dialect: Dialect = None,
) -> None:
    """Make a synthetic workload.

    By the model of Lublin and Feitelson, like a given log, or for YARN.
    """
    if columns.sls:
        refuse(_OF_SWF, processors=processors, users=users, load=load)
        generate_trace(columns, out, dialect or "dss", jobs=jobs, like=like, seed=seed)
        return
    refuse("give --sls for jobs of containers", **vars(columns), dialect=dialect)
    from rebecsim.workloads.generation import generate as draw, resample
    from rebecsim.workloads.logs import require_form, write_workload
    from rebecsim.workloads.workload import with_load

    require("rebecsim workload generate", "scipy")
    require_form(out)
    if like is None:
        made = draw(jobs or 10_000, processors or 128, seed=seed, users=users or 1)
    elif jobs is None:
        made = resample(told(like, read_log(like, processors, "requested")), seed=seed, users=users)
    else:
        raise UserError(
            "--jobs cannot be given with --like: the users of the log determine the jobs"
        )
    if load is not None:
        made = with_load(made, load)
    write_workload(made, out)
    _say_written(made, out)


@_command("nodes --nodes 8:memory=16000,cores=16 --out racks.json")
@grouped
def nodes(
    out: Annotated[Path, typer.Option(help="The new file: .json, .json.gz.")],
    group: Annotated[
        list[str],
        typer.Option(
            "--nodes", help="As COUNT:memory=MB,cores=N, or COUNT; repeatable for other nodes."
        ),
    ],
    racks: int = option("Number of racks.", 1, min=1),
) -> None:
    """Write the nodes of a YARN cluster as SLS topology (JSON)."""
    write_nodes(group, racks, out)


@_command("slice log.swf --until 86400 --out day.swf")
@grouped
def slice_(
    log: Log,
    out: Out,
    begin: int = option("Jobs submitted from this second of the log on.", 0, "--from", min=0),
    until: int | None = option("Jobs submitted before this second.", min=1),
    first: int | None = option("Most jobs to keep.", min=1),
    chosen: ChosenOptions = ChosenOptions(),
    load_factor: float | None = option("Submit jobs faster by this factor."),
    load: Load = None,
    processors: Processors = None,
    size: Size = "requested",
    sort: Sort = False,
) -> None:
    """Cut a workload to a time, users or queues; scale its load."""
    from rebecsim.workloads.logs import require_form, write_workload
    from rebecsim.workloads.workload import cut, scale_load, with_load

    require_form(out)
    if load is not None and load_factor is not None:
        raise UserError("--load and --load-factor: give one of the two")
    workload = told(log, read_log(log, processors, size, sort))
    workload = cut(workload, begin=begin, end=until, first=first, **chosen.numbers(workload))
    if load_factor is not None:
        workload = scale_load(workload, load_factor)
    if load is not None:
        workload = with_load(workload, load)
    write_workload(workload, out)
    _say_written(workload, out)


@_command("convert log.swf --out clean.swf")
@grouped
def convert(
    log: AnyLog,
    out: AnyOut,
    processors: Processors = None,
    size: Size = "requested",
    sort: Sort = False,
    swim: SwimOptions = AS_USUAL,
    dialect: Dialect = None,
) -> None:
    """Clean a log and write it in another format.

    Logs become SWF or a table, traces of containers SLS.
    """
    if holds_containers(log):
        refuse(_OF_SWF, processors=processors, sort=sort)
        convert_trace(log, out, swim, dialect or "dss")
        return
    refuse(_OF_SWIM, **vars(swim), dialect=dialect)
    from rebecsim.workloads.logs import require_form, write_workload

    require_form(out)
    workload = told(log, read_log(log, processors, size, sort))
    write_workload(workload, out)
    _say_written(workload, out)


@_command("metrics easy.swf")
@grouped
def metrics(
    schedules: Annotated[
        list[Path], typer.Argument(help="Logs with waits, SWF or PBS, of the same jobs or not.")
    ],
    shares: ShareOptions = ShareOptions(),
    by: Group | None = option("Show users or queues one by one."),
    chosen: ChosenOptions = ChosenOptions(),
    boxes: Path | None = option("Draw box plots over users: .png or .svg."),
    heatmap: Path | None = option("Draw overdue jobs of users over time: .png or .svg."),
    processors: Processors = None,
) -> None:
    """Measure schedules: wait, slowdown, utilisation, by user."""
    from rebecsim.report.figures import require_picture_name

    if not shares.share and (boxes or heatmap or shares != ShareOptions()):
        raise UserError("--boxes, --heatmap and options of expected ends need --share")
    for picture in filter(None, (boxes, heatmap)):
        require_picture_name(picture)
    read = [_read_schedule(path, processors) for path in schedules]
    views = [_view(schedule, chosen) for schedule in read]
    expected = [shares.ends(schedule) for schedule in read] if shares.share else []
    _show_classical(read, views, by)
    if expected:
        _show_user_aware(read, views, expected, shares.title(), by, boxes, heatmap)


_OF_SWF = "for logs in SWF only, and these are jobs of containers"
_OF_SWIM = "for jobs of containers only, and this is a log"


def _show_classical(
    schedules: list[Schedule], views: list[NDArray[np.bool_]], by: Group | None
) -> None:
    from rebecsim.clusters.batch.report.text import batch_table, group_table
    from rebecsim.metrics.batch import batch_metrics, batch_metrics_by
    from rebecsim.workloads.logs import labels_of

    pairs = list(zip(schedules, views, strict=True))
    rows = [(each.policy, batch_metrics(each, only=view)) for each, view in pairs]
    console().print(batch_table(rows))
    if by is None:
        return
    for schedule, view in pairs:
        say(schedule.policy)
        groups = batch_metrics_by(schedule, getattr(schedule.workload, by), only=view)
        labels = labels_of(schedule.workload, by)
        console().print(group_table(by.capitalize(), groups, labels))


def _show_user_aware(
    schedules: list[Schedule],
    views: list[NDArray[np.bool_]],
    expected: list[Integers],
    title: str,
    by: Group | None,
    boxes: Path | None,
    heatmap: Path | None,
) -> None:
    from rebecsim.clusters.batch.report.schedule_charts import write_overdue_chart, write_user_boxes
    from rebecsim.clusters.batch.report.text import user_quartile_table, user_table
    from rebecsim.metrics.users import overdue_map, user_metrics, window_edges
    from rebecsim.workloads.logs import labels_of

    judged = []
    for schedule, ends, view in zip(schedules, expected, views, strict=True):
        jobs = schedule.workload
        figures = user_metrics(schedule.end, ends, jobs.user, jobs.processors, only=view)
        judged.append((schedule.policy, figures))
    console().print(user_quartile_table(judged))
    if by == "user":
        for schedule, (policy, figures) in zip(schedules, judged, strict=True):
            say(policy)
            console().print(user_table(figures, labels_of(schedule.workload, "user")))
    if boxes is not None:
        write_user_boxes(judged, boxes, title)
        say(f"box plots in {boxes}")
    if heatmap is not None:
        last = max(int(each.end.max()) for each in schedules)
        edges = window_edges(0, last, _WINDOWS)
        maps = [
            overdue_map(schedule, ends, edges, only=view)
            for schedule, ends, view in zip(schedules, expected, views, strict=True)
        ]
        write_overdue_chart(maps, heatmap, title)
        say(f"heat map in {heatmap}")


_WINDOWS = 700


def _read_schedule(path: Path, processors: int | None) -> Schedule:
    require_log(path)
    from rebecsim.workloads import read_schedule

    schedule = read_schedule(path, processors=processors)
    told(path, schedule.workload)
    return schedule


def _view(schedule: Schedule, options: ChosenOptions) -> NDArray[np.bool_]:
    """Choose the jobs of some users and queues; all of them if none are named."""
    import numpy as np

    jobs = schedule.workload
    numbers = options.numbers(jobs)
    chosen = np.ones(len(jobs), dtype=bool)
    for name, column in (("users", jobs.user), ("queues", jobs.queue)):
        if numbers[name]:
            chosen &= np.isin(column, numbers[name])
        chosen &= ~np.isin(column, numbers[f"without_{name}"])
    if not chosen.any():
        raise UserError(f"{schedule.policy}: no job is of these users and queues")
    return chosen


def _say_written(workload: Workload, path: Path) -> None:
    from rebecsim.workloads.workload import offered_load

    load = offered_load(workload)
    say(f"{len(workload):,} jobs in {path}, offered load {load:.3f}")
