"""The commands `workload info`, `generate`, `slice`, `convert` and `metrics`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from inspect import getdoc
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from rebecsim.cli.app import app, console, given, grouped, say, say_parts
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
from rebecsim.cli.running import JobSize, Log, Processors, Sort, told
from rebecsim.clusters.kit.options import option
from rebecsim.errors import UserError
from rebecsim.extras import require

if TYPE_CHECKING:
    from rebecsim.interface import ExpectedShares, LoggedJobs

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
        help="A log (SWF, CSV, PBS, sacct); or jobs of containers: SLS (.json), SWIM (.tsv).",
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

    def arguments(self) -> dict[str, Any]:
        """Give them as arguments of functions of `rs`."""
        return {f"{name}s": value or () for name, value in vars(self).items()}


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

    def shares(self) -> ExpectedShares:
        """Give what users may expect. Raises UserError."""
        from rebecsim.interface import ExpectedShares
        from rebecsim.metrics.users import EndRules

        rules = EndRules(
            algorithm=self.expected_ends,
            usage_window=self.usage_window,
            per=self.end_per,
            bag_gap=self.bag_gap,
        )
        return ExpectedShares(*self._shares(), self.memory_share, rules)

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
    size: JobSize = "requested",
    sort: Sort = False,
    swim: SwimOptions = AS_USUAL,
) -> None:
    """Show the jobs, users, load and distributions of a workload."""
    from rebecsim.workloads.files import holds_containers

    if holds_containers(log):
        refuse(_OF_SWF, chart=chart, processors=processors, sort=sort)
        show_containers(log, swim)
        return
    refuse(_OF_SWIM, **vars(swim))
    from rebecsim.interface import workload

    found = workload(log, processors=processors, size=size, sort=sort)
    if chart is not None:
        found.save_chart(chart)
    console().print(found)
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
    from rebecsim.interface import draw_workload
    from rebecsim.workloads.logs import require_form

    require("rebecsim workload generate", "scipy")
    require_form(out)
    if like is None:
        counts = given(jobs=jobs, processors=processors, users=users)
        made = draw_workload(**counts, seed=seed)
    elif jobs is None:
        made = _read(like, processors, "requested").resampled(seed=seed, users=users)
    else:
        raise UserError(
            "--jobs cannot be given with --like: the users of the log determine the jobs"
        )
    _save(made if load is None else made.with_load(load), out)


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
    size: JobSize = "requested",
    sort: Sort = False,
) -> None:
    """Cut a workload to a time, users or queues; scale its load."""
    from rebecsim.workloads.logs import require_form

    require_form(out)
    if load is not None and load_factor is not None:
        raise UserError("--load and --load-factor: give one of the two")
    made = _read(log, processors, size, sort)
    made = made.cut(begin=begin, until=until, first=first, **chosen.arguments())
    if load_factor is not None:
        made = made.scaled(load_factor)
    _save(made if load is None else made.with_load(load), out)


@_command("convert log.swf --out clean.swf")
@grouped
def convert(
    log: AnyLog,
    out: AnyOut,
    processors: Processors = None,
    size: JobSize = "requested",
    sort: Sort = False,
    swim: SwimOptions = AS_USUAL,
    dialect: Dialect = None,
) -> None:
    """Clean a log and write it in another format.

    Logs become SWF or a table, traces of containers SLS.
    """
    from rebecsim.workloads.files import holds_containers

    if holds_containers(log):
        refuse(_OF_SWF, processors=processors, sort=sort)
        convert_trace(log, out, swim, dialect or "dss")
        return
    refuse(_OF_SWIM, **vars(swim), dialect=dialect)
    from rebecsim.workloads.logs import require_form

    require_form(out)
    _save(_read(log, processors, size, sort), out)


@_command("metrics easy.swf")
@grouped
def metrics(
    schedules: Annotated[
        list[Path],
        typer.Argument(help="Logs with waits (SWF, PBS, sacct), of the same jobs or not."),
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
    from rebecsim.interface import measure_schedules
    from rebecsim.interface.workloads import schedule_of

    read = [schedule_of(path, processors) for path in schedules]
    for path, schedule in zip(schedules, read, strict=True):
        told(path, schedule.workload)
    expected = shares.shares() if shares.share else None
    found = measure_schedules(read, by=by, shares=expected, **chosen.arguments())
    say_parts(found.parts())
    if boxes is not None:
        found.save_boxes(boxes)
        say(f"box plots in {boxes}")
    if heatmap is not None:
        found.save_heatmap(heatmap)
        say(f"heat map in {heatmap}")


_OF_SWF = "for logs in SWF only, and these are jobs of containers"
_OF_SWIM = "for jobs of containers only, and this is a log"


def _read(log: Path, processors: int | None, size: JobSize, sort: bool = False) -> LoggedJobs:
    from rebecsim.interface import workload

    found = workload(log, processors=processors, size=size, sort=sort)
    told(log, found.jobs)
    return found


def _save(made: LoggedJobs, path: Path) -> None:
    made.save(path)
    say(f"{len(made.jobs):,} jobs in {path}, offered load {made.load:.3f}")
