"""Options that several commands about models take, and how a long search is watched."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict

import typer

from rebecsim.cli.app import Core, Strict, Tts, complain, error_console, open_model
from rebecsim.files import write_text

if TYPE_CHECKING:
    from rich.status import Status

    from rebecsim.exploration import Checks, Limits, Progress, Recorded
    from rebecsim.interface import LoadedModel

_PATIENCE = 0.4
"""Seconds after which it is shown how far a search is; most are over before."""


class Asked(TypedDict):
    """The arguments of `rs.explore` and `rs.races` that say what is asked."""

    tts: bool
    checks: Checks
    property: Path | None
    ignore: list[str]
    strict: bool


@dataclass(frozen=True, kw_only=True)
class QuestionOptions:
    """What is asked of a model."""

    core: Core = False
    tts: Tts = False
    property: Annotated[
        Path | None,
        typer.Option(help="A property file: assertions, and for `explore` LTL and TCTL."),
    ] = None
    invariant: Annotated[
        list[str] | None,
        typer.Option(help="A condition that must hold in every state; repeatable."),
    ] = None
    deadlines: Annotated[bool, typer.Option(help="Report missed deadlines.")] = True
    overflow: Annotated[
        bool, typer.Option(help="Report full queues; else queues are unbounded.")
    ] = True
    deadlock: Annotated[
        bool, typer.Option(help="Report the end of a run as a violation, as RMC does.")
    ] = False
    terminal: Annotated[
        list[str] | None,
        typer.Option(help="An allowed end of runs; any other is a deadlock; repeatable."),
    ] = None
    horizon: Annotated[
        int | None, typer.Option(min=0, help="Do not explore beyond this model time.")
    ] = None
    ignore: Annotated[
        list[str] | None,
        typer.Option(help="A variable to leave out of the state, `rebec.variable`; repeatable."),
    ] = None
    strict: Strict = False

    def open(self, file: Path) -> LoadedModel:
        """Load the model, and say on standard error if it has no use for time.

        Raises as `open_model` does.
        """
        from rebecsim.lang.checked import needs_time

        loaded = open_model(file, self.core)
        checked = loaded.checked
        if checked is not None and checked.dialect == "timed" and not needs_time(checked):
            complain(
                "hint: nothing in this model takes time, so every message arrives at time 0, in "
                "any order. With --core, or `// rebeca: core` in its first line, it is Core "
                "Rebeca: queues keep the order of sending."
            )
        return loaded

    def asked(self) -> Asked:
        """Give the arguments of `rs.explore` and `rs.races`, without the horizon, a limit."""
        from rebecsim.exploration import Checks

        terminal, invariants = (tuple(each or ()) for each in (self.terminal, self.invariant))
        return Asked(
            tts=self.tts,
            checks=Checks(self.deadlines, self.overflow, self.deadlock, terminal, invariants),
            property=self.property,
            ignore=self.ignore or [],
            strict=self.strict,
        )


@dataclass(frozen=True, kw_only=True)
class LimitOptions:
    """How far a model is looked at."""

    max_states: Annotated[
        int | None, typer.Option("--max-states", min=1, help="Stop after storing so many states.")
    ] = None
    max_time: Annotated[
        int | None, typer.Option("--max-time", min=1, help="Stop after so many seconds.")
    ] = None
    max_memory: Annotated[
        int | None, typer.Option("--max-memory", min=1, help="Stop at so many megabytes of memory.")
    ] = None

    def limits(self, horizon: int | None) -> Limits:
        """Give the limits, and a horizon."""
        from rebecsim.exploration import Limits

        return Limits(
            states=self.max_states,
            seconds=self.max_time,
            memory=self.max_memory,
            horizon=horizon,
        )


@dataclass(frozen=True, kw_only=True)
class WrittenTests:
    """The tests that are made of a run to a violation."""

    as_test: Annotated[
        Path | None,
        typer.Option("--as-test", help="Write the run to the violation as a Python test."),
    ] = None
    as_regression: Annotated[
        Path | None,
        typer.Option(
            "--as-regression", help="The same, as a test that fails until the model is mended."
        ),
    ] = None

    @property
    def asked(self) -> bool:
        """Whether a test is asked for."""
        return (self.as_test, self.as_regression) != (None, None)

    def write(self, recorded: Recorded, model: Path) -> None:
        """Write a run as the tests that are asked for."""
        from rebecsim.report.pytest_source import pytest_source, regression_source

        files = ((self.as_test, pytest_source), (self.as_regression, regression_source))
        for file, source in files:
            if file is not None:
                write_text(file, source(recorded, model, file))
                complain(f"test in {file}")


class Watched(TypedDict):
    """The arguments of a search by which Ctrl-C ends it, and a user sees how far it is."""

    limits: Limits
    progress: Callable[[Progress], None] | None


@contextmanager
def watching(limits: Limits) -> Iterator[Watched]:
    """Let Ctrl-C end a search that has these limits, and show how far it is."""
    from rebecsim.processes import noting_interrupts

    with noting_interrupts() as interrupt, showing_progress() as progress:
        limits = replace(limits, is_interrupted=lambda: interrupt.seen)
        yield Watched(limits=limits, progress=progress)


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
