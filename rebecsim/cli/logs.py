"""Shared by commands about logs and clusters: reading a log, printing the answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rebecsim.cli.app import complain, console, say
from rebecsim.errors import UserError
from rebecsim.wording import UnknownName, clipped, counted

if TYPE_CHECKING:
    from rich.console import RenderableType

    from rebecsim.report.groups import GroupAnswer
    from rebecsim.workloads import Workload

SLS = (".json", ".json.gz")
SWIM = (".tsv", ".tsv.gz")

Log = Annotated[
    Path, typer.Argument(help="A log: SWF, or PBS's accounting; also .gz.", show_default=False)
]
Processors = Annotated[
    int | None, typer.Option(min=1, help="Processors of the machine, instead of the header's.")
]
Size = Annotated[
    Literal["requested", "allocated"],
    typer.Option(help="Processors of a job: as requested, or as allocated."),
]
Sort = Annotated[
    bool,
    typer.Option("--sort", help="Sort jobs by submission, instead of skipping those out of order."),
]


def holds_containers(path: Path) -> bool:
    """Whether a file is a trace of container jobs, by its name or its first character.

    Raises WorkloadError and OSError for a file that cannot be read.
    """
    if path.name.endswith(SLS + SWIM):
        return True
    if not path.is_file():  # a pipe can be read only once
        return False
    from rebecsim.workloads.files import first_bytes

    return first_bytes(path).lstrip().startswith(b"{")


def read_log(log: Path, processors: int | None, size: Size, sort: bool = False) -> Workload:
    """Read a log. Raises WorkloadError, OSError, and UserError for jobs of containers."""
    require_log(log)
    import rebecsim.workloads as workloads

    rules = workloads.CleaningRules(size=size, sort=sort)
    return workloads.read_log(log, processors=processors, rules=rules)


def require_log(path: Path) -> None:
    """Raise UserError for jobs of containers."""
    if holds_containers(path):
        raise UserError(
            f"{path}: holds jobs of containers; use `workload info`, `workload convert` or `yarn`"
        )


def told(path: Path, workload: Workload) -> Workload:
    """Print which lines of a log were skipped, and give the log."""
    from rebecsim.workloads.cleaning import skipped_lines

    for line in skipped_lines(workload.skipped):
        complain(f"{path}: {line}")
    return workload


@dataclass(frozen=True, kw_only=True)
class Showing:
    """Options for how much is printed."""

    more: Annotated[
        bool, typer.Option("--more", help="Show all queues or users, and all other figures.")
    ] = False


@dataclass(frozen=True, kw_only=True)
class ShowingFiles(Showing):
    """Options for how much is printed, also of queue files."""

    verbose: Annotated[
        bool, typer.Option("--verbose", help="List the settings that have no effect here.")
    ] = False

    def tell_idle(self, lines: Iterable[str]) -> None:
        """Say how many settings have no effect; list them if asked to.

        Those of unknown names are always listed: they may be typing mistakes.
        """
        idle = list(dict.fromkeys(lines))
        all_of_them = self.verbose or len(idle) == 1
        listed = [each for each in idle if all_of_them or isinstance(each, UnknownName)]
        for line in listed:
            complain(line)
        if left := len(idle) - len(listed):
            settings = counted(left, "setting has", "settings have")
            others = counted(left, "other setting has", "other settings have")
            complain(f"{others if listed else settings} no effect here; --verbose lists them")


SHORTLY_OF_FILES = ShowingFiles()
"""No more than the answer."""


def show_answer(
    answer: GroupAnswer, more: Callable[[], Sequence[RenderableType]], showing: Showing
) -> None:
    """Print the answer by queue or user; all other figures too, where one run or all are asked for.

    `more` makes the other tables.
    """
    from rebecsim.report.groups import group_view

    console().print(group_view(answer, showing.more))
    if showing.more or len(answer.runs) == 1:
        for table in more():
            console().print(table)
    else:
        say("All queues or users, and all other figures: --more.")


_NUMBER = re.compile(r"[0-9]{1,18}")


def node_group(text: str, example: str) -> tuple[int, dict[str, int]]:
    """Read how many nodes, and what each has. Raises UserError, with an example."""
    count, _, parts = text.partition(":")
    pairs = [part.partition("=")[::2] for part in parts.split(",")] if parts else []
    resources = {name.strip(): value.strip() for name, value in pairs}
    numbers = (count.strip(), *resources.values())
    if len(resources) < len(pairs) or not all(_NUMBER.fullmatch(each) for each in numbers):
        raise UserError(f"--nodes {clipped(text, 100)}: write it as {example}")
    return int(count), {name: int(value) for name, value in resources.items()}
