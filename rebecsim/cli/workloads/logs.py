"""Options and reading of logs, for the commands that take a log."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rebecsim.cli.app import complain
from rebecsim.errors import UserError

if TYPE_CHECKING:
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
    """Whether a file is a trace of container jobs, by its name, or as it begins with a brace.

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
    """Say what is skipped of a log, and give it."""
    from rebecsim.workloads.cleaning import skipped_lines

    for line in skipped_lines(workload.skipped):
        complain(f"{path}: {line}")
    return workload
