"""What is asked by commands that look at all a model can do: options, question, tests to write."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rebecsim.cli.app import complain, error_console
from rebecsim.files import write_text

if TYPE_CHECKING:
    from rich.status import Status

    from rebecsim.actors import Model
    from rebecsim.exploration import Progress, Question, Recorded

_PATIENCE = 0.4
"""Seconds after which it is shown how far a search is; most are over before."""

ModelFile = Annotated[Path, typer.Argument(help="A model (.rebeca, or .py with a global `model`).")]
Tts = Annotated[
    bool, typer.Option("--tts", help="Timed transition system instead of floating time.")
]
PropertyOption = Annotated[
    Path | None, typer.Option(help="A property file; its `Assertion` sections are checked.")
]
Invariants = Annotated[
    list[str] | None,
    typer.Option(help="What must hold in every state; may be repeated."),
]
Terminal = Annotated[
    list[str] | None,
    typer.Option(help="A state without messages is no deadlock if this holds; may be repeated."),
]
Deadlines = Annotated[bool, typer.Option(help="Look for missed deadlines.")]
Overflow = Annotated[bool, typer.Option(help="Look for full queues; else queues have no bounds.")]
Deadlock = Annotated[bool, typer.Option(help="Look for states without any message.")]
MaxStates = Annotated[int | None, typer.Option("--max-states", min=1, help="Most states to store.")]
MaxTime = Annotated[int | None, typer.Option("--max-time", min=1, help="Most seconds to search.")]
MaxMemory = Annotated[
    int | None, typer.Option("--max-memory", min=1, help="Most megabytes of memory.")
]
Horizon = Annotated[
    int | None, typer.Option(min=0, help="Model time behind which states are not followed.")
]
Ignored = Annotated[
    list[str] | None,
    typer.Option(help="A variable to leave out of the state, `rebec.variable`; repeatable."),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as one object.")]
AsTest = Annotated[
    Path | None, typer.Option("--as-test", help="Write the run to a violation as a Python test.")
]
AsRegression = Annotated[
    Path | None,
    typer.Option(
        "--as-regression", help="The same, as a test that fails while the run goes wrong."
    ),
]


def posed(
    model: Model,
    *,
    tts: bool,
    deadlines: bool,
    overflows: bool,
    deadlock: bool,
    terminal: list[str] | None,
    invariants: list[str] | None,
    file: Path | None,
    abstract: list[str] | None,
    horizon: int | None,
) -> Question:
    """Put together what is asked of a model. Raises BadParameter for time in a core model."""
    from rebecsim.exploration import Checks, Limits
    from rebecsim.interface.exploring import ask
    from rebecsim.interface.loading import LoadedModel

    if model.core and (tts or horizon is not None):
        raise typer.BadParameter(
            "this is a model in Core Rebeca, which has no time; leave the option out",
            param_hint="--tts" if tts else "--horizon",
        )
    checks = Checks(deadlines, overflows, deadlock, tuple(terminal or ()), tuple(invariants or ()))
    limits = Limits(horizon=horizon)
    return ask(
        LoadedModel(model),
        tts=tts,
        checks=checks,
        property=file,
        ignore=abstract or (),
        limits=limits,
    )


@contextmanager
def showing_progress() -> Iterator[Callable[[Progress], None] | None]:
    """Show how far a search is, if somebody looks and it takes a while."""
    if not sys.stderr.isatty():
        yield None
        return
    began = time.monotonic()
    with ExitStack() as shown:
        status: Status | None = None

        def show(progress: Progress) -> None:
            nonlocal status
            if status is None and time.monotonic() - began < _PATIENCE:
                return
            if status is None:
                status = shown.enter_context(error_console().status("exploring"))
            status.update(
                f"{progress.states:,} states, {progress.transitions:,} transitions, "
                f"frontier {progress.frontier:,}, {progress.states_per_second:,.0f} states/s"
            )

        yield show


def write_tests(
    recorded: Recorded, model: Path, as_test: Path | None, as_regression: Path | None
) -> None:
    """Write a run as the Python tests that are asked for."""
    from rebecsim.report.pytest_source import pytest_source, regression_source

    for file, source in ((as_test, pytest_source), (as_regression, regression_source)):
        if file is not None:
            write_text(file, source(recorded, model, file))
            complain(f"test in {file}")
