"""Parts that all commands share: the application, printing, common options."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from rebecsim.errors import UserError
from rebecsim.native.engines import Engine, usable
from rebecsim.trust import Consent, refuse_programs, run_programs
from rebecsim.wording import printable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from rebecsim.interface import LoadedModel

Law = Literal["fair", "rmc"]
"""How `?(...)` draws: see the choice law of scenario files."""


def _usable_engine(engine: Engine) -> Engine:
    """Refuse the engine that is not installed before anything is done."""
    return engine if engine == "auto" else usable(engine)


EngineName = Annotated[
    Literal["auto", "python", "native"],
    typer.Option(
        "--engine",
        help="Engine that runs the model; results are the same.",
        callback=_usable_engine,
    ),
]
Core = Annotated[bool, typer.Option("--core", help="Read the models as Core Rebeca (untimed).")]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="A model in Python: run every step again, not a sample."),
]
Patience = Annotated[
    int,
    typer.Option(min=1, help="Most seconds for one message server or constructor."),
]
Plugins = Annotated[
    list[Path] | None,
    typer.Option("--plugin", help="A Python file with policies or patterns; may be repeated."),
]
Trust = Annotated[
    bool,
    typer.Option("--trust", help="Run the Python files that the input names, without asking."),
]
ScenarioName = Annotated[
    str, typer.Argument(help="A scenario file, or the name of a built-in scenario.")
]
Workers = Annotated[
    int | None, typer.Option(min=1, show_default="one per processor", help="Worker processes.")
]
Replications = Annotated[
    int | None, typer.Option(min=1, help="Runs per cell, instead of the scenario's.")
]
Explain = Annotated[
    bool, typer.Option("--explain", help="Show all figures, and how they were computed.")
]


def given(**arguments: Any) -> dict[str, Any]:
    """Give the arguments that are not None: a function has its own defaults for the others."""
    return {name: value for name, value in arguments.items() if value is not None}


def say(text: str) -> None:
    """Print a line as it is: no markup, no highlighting, no wrapping, no control characters."""
    typer.echo(printable(text))


def say_parts(parts: Iterable[str | RenderableType]) -> None:
    """Print lines as they are, and tables."""
    for part in parts:
        if isinstance(part, str):
            say(part)
        else:
            console().print(part)


def complain(error: object) -> None:
    """Print a line on standard error, as it is."""
    typer.echo(printable(str(error)), err=True)


def open_model(file: Path, core: bool = False) -> LoadedModel:
    """Load a model, and print on standard error what the checker warns of.

    Raises as `rs.load` does.
    """
    from rebecsim.interface import load

    loaded = load(file, core=core)
    for warning in loaded.warnings:
        complain(warning)
    return loaded


@cache
def console() -> Console:
    """Give the console for tables and colours; many commands end without needing it."""
    from rebecsim.cli.consoles import PlainTextConsole

    return PlainTextConsole()


@cache
def error_console() -> Console:
    """Give the console on standard error, for progress."""
    from rebecsim.cli.consoles import PlainTextConsole

    return PlainTextConsole(stderr=True)


def consent_of(trust: bool) -> Consent:
    """Give what decides about Python files that an input names: `--trust`, or the user's answer.

    The user is asked only if input and standard error are terminals.
    """

    def ask(origin: str, programs: tuple[Path, ...]) -> None:
        listed = "".join(f"\n  {each}" for each in programs)
        complain(f"{origin} names Python code. rebecsim would run it with all your rights:{listed}")
        try:
            agreed = typer.confirm("Run it?", err=True)
        except typer.Abort:  # the end of input, or Ctrl-C
            agreed = False
        if not agreed:
            raise UserError(f"{origin}: nothing was run")

    if trust:
        return run_programs
    return ask if sys.stdin.isatty() and sys.stderr.isatty() else refuse_programs


def use_plugins(files: list[Path] | None) -> None:
    """Load the plug-ins that were given."""
    if files:
        from rebecsim.clusters import load_plugins

        load_plugins(files)
