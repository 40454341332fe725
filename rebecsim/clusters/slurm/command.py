"""The command `slurm`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rebecsim.cli.app import app, complain, console, grouped, say
from rebecsim.cli.running import Showing, show_answer
from rebecsim.clusters.kit.options import option
from rebecsim.errors import UserError
from rebecsim.wording import counted

if TYPE_CHECKING:
    from rich.console import RenderableType

    from rebecsim.clusters.slurm.configuration import Cluster
    from rebecsim.clusters.slurm.files.log_files import SlurmLog
    from rebecsim.clusters.slurm.files.settings import Setting
    from rebecsim.clusters.slurm.results import JudgedRun

_MOST_LINES = 20
"""Lines of a job's reasons, and of priorities, that are printed without --more."""


@dataclass(frozen=True, kw_only=True)
class FileOptions:
    """The files of the site beside slurm.conf."""

    gres: Path | None = option("gres.conf, if it is not beside slurm.conf.")
    topology: Path | None = option("topology.conf, if it is not beside slurm.conf.")
    accounts: Path | None = option("What `sacctmgr dump CLUSTER file=FILE` wrote.")
    qos: Path | None = option("What `sacctmgr -P show qos` printed.")
    shares: Path | None = option("What `sshare -al -P` printed when the log begins.")
    reservations: Path | None = option("What `scontrol show res -o` printed.")

    def read(self, conf: Path) -> tuple[Cluster, tuple[Setting, ...]]:
        """Read them with a configuration. Raises SlurmFileError and OSError."""
        from rebecsim.clusters.slurm.files.site import SiteFiles

        return SiteFiles(conf=conf, **vars(self)).read()


@dataclass(frozen=True, kw_only=True)
class ShowingSlurm(Showing):
    """What is printed."""

    by: Literal["user", "account", "partition", "qos"] = option(
        "Groups of jobs in the tables.", "user"
    )
    settings: bool = option("List the effect of each setting, and stop.", False, "--settings")
    why: int | None = option("Say why this job had to wait, step by step.", min=1)
    priorities: int | None = option(
        "Show the terms of the priorities of waiting jobs at this second of the log's clock."
    )
    timeline: Path | None = option("Draw which job had which node when: .png, .svg or .pdf.")


SHORTLY = ShowingSlurm()
"""No more than the answer."""


@app.command()
@grouped
def slurm(
    log: Annotated[
        Path,
        typer.Argument(
            help="What `sacct -a -X -D -P -o ALL` printed; or a log in SWF, CSV or of PBS.",
            show_default=False,
        ),
    ],
    conf: Annotated[
        list[Path],
        typer.Option(help="slurm.conf; repeatable, the present one first.", show_default=False),
    ],
    files: FileOptions = FileOptions(),
    showing: ShowingSlurm = SHORTLY,
) -> None:
    """Replay a log of Slurm under one slurm.conf or several."""
    from rebecsim.clusters.slurm.files.log_files import read_log
    from rebecsim.clusters.slurm.results import (
        SLURM_MEASURES,
        JudgedRun,
        answer_of,
        run_figures,
    )
    from rebecsim.clusters.slurm.run import run_cluster
    from rebecsim.clusters.slurm.runs import Journal

    sites = {str(each): files.read(each) for each in conf}
    if showing.settings:
        for name, (_, settings) in sites.items():
            _show_settings(name, settings)
        return
    logs: dict[str, SlurmLog] = {}
    runs: dict[str, JudgedRun] = {}
    for name, (cluster, settings) in sites.items():
        _tell_unsupported(settings)
        logs[name] = read_log(log, cluster)
        if not logs[name].jobs:
            raise UserError(f"{log}: holds no job; ask sacct for a longer time")
        watched = () if showing.why is None else (showing.why,)
        journal = Journal(watched, showing.priorities)
        runs[name] = JudgedRun(run_cluster(cluster, logs[name].jobs, journal), cluster)
    for note in dict.fromkeys(note for each in logs.values() for note in each.notes):
        complain(f"{log}: {note}")
    if showing.why is not None:
        for name, run in runs.items():
            _show_why(name, run, showing.why, showing.more)
    elif showing.priorities is not None:
        for name, run in runs.items():
            _show_priorities(name, run, showing.more)
    else:

        def more() -> Sequence[RenderableType]:
            from rebecsim.clusters.kit.measures import figures_table

            return [figures_table(SLURM_MEASURES, {n: run_figures(r) for n, r in runs.items()})]

        show_answer(answer_of(runs, showing.by), more, showing)
        _tell_left(runs)
    if showing.timeline is not None:
        _draw(runs, showing.timeline)


def _tell_unsupported(settings: tuple[Setting, ...]) -> None:
    from rebecsim.clusters.slurm.files.settings import unsupported

    found = unsupported(settings)
    if found:
        keys = ", ".join(dict.fromkeys(each.key for each in found))
        complain(f"{found[0].file}: not simulated: {keys}; see --settings")


def _show_settings(name: str, settings: tuple[Setting, ...]) -> None:
    from rich.table import Table

    from rebecsim.clusters.slurm.files.site import settings_rows

    table = Table("where", "setting", "", "", title=name, title_justify="left")
    for row in settings_rows(settings):
        table.add_row(*row)
    console().print(table)


def _tell_left(runs: dict[str, JudgedRun]) -> None:
    """Say which jobs never start."""
    for name, run in runs.items():
        left = run.outcome.left
        refused = [each for each in run.outcome.runs if each.state == "REFUSED"]
        reasons = [*left.values(), *(each.reason for each in refused)]
        if reasons:
            told = ", ".join(sorted(dict.fromkeys(reasons)))
            say(f"{name}: {counted(len(reasons), 'job')} never started: {told}.")


def _show_why(name: str, run: JudgedRun, number: int, more: bool) -> None:
    """Print what kept a job waiting, and when it started."""
    outcome = run.outcome
    position = next((n for n, job in enumerate(outcome.jobs) if job.number == number), None)
    if position is None:
        raise UserError(f"--why {number}: there is no such job in the log")
    job = outcome.jobs[position]
    lines = list(_changes(outcome.journal.lines))
    found = run.last.get(position)
    if found is None:
        reason = outcome.left.get(number, "it was refused or cancelled")
        say(f"{name}: job {number} never started: {reason}.")
    else:
        wait = found.start - job.submit
        nodes = ",".join(outcome.names[each] for each in found.nodes)
        say(f"{name}: job {number} waited {wait:,} s and started on {nodes} ({found.by}).")
    shown = lines if more else lines[:_MOST_LINES]
    for time, who, reason in shown:
        say(f"  {time - job.submit:>8,} s  {who}: {reason}")
    if len(lines) > len(shown):
        say(f"  {counted(len(lines) - len(shown), 'more line')}: --more.")


def _changes(lines: list[tuple[int, int, str, str]]) -> Iterator[tuple[int, str, str]]:
    """Leave out what a scheduler says again and again."""
    said: dict[str, str] = {}
    for time, _, who, reason in lines:
        if said.get(who) != reason:
            said[who] = reason
            yield time, who, reason


def _show_priorities(name: str, run: JudgedRun, more: bool) -> None:
    from rich.table import Table

    rows = run.outcome.journal.terms
    heads = ("job", "priority", "age", "assoc", "fair share", "size", "partition", "QOS", "TRES")
    table = Table(*heads, title=name, title_justify="left")
    for number, priority, terms in rows if more else rows[:_MOST_LINES]:
        table.add_row(str(number), str(priority), *(f"{each:,.0f}" for each in terms[:7]))
    console().print(table)


def _draw(runs: dict[str, JudgedRun], path: Path) -> None:
    """Draw who had which node when, up to a day from the first start."""
    from rebecsim.clusters.kit.report import Colours, colours_by_work, gantt_figure
    from rebecsim.report.figures import write_figure

    timelines = {name: each.timeline() for name, each in runs.items()}
    begin = min(int(each.begin.min()) for each in timelines.values() if len(each))
    end = max(int(each.end.max()) for each in timelines.values() if len(each))
    window = begin, min(end, begin + 86_400)
    colours = Colours(colours_by_work(list(timelines.values()), window), "user")
    write_figure(path, lambda: gantt_figure(timelines, colours, window, noun="node"))
    say(f"timeline in {path}")
