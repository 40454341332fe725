"""The application: which commands there are; the one that is asked for is imported, no other."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup


class Listed(NamedTuple):
    """A command before it is imported: the module that registers it, and its line in the help."""

    module: str
    help: str


COMMANDS = {
    "batch": Listed(
        "workloads.batch", "Run a log through a batch scheduler and show what became of the jobs."
    ),
    "validate": Listed(
        "workloads.batch", "Check that a machine could have run a schedule, ours or another tool's."
    ),
    "yarn": Listed(
        "workloads.yarn",
        "Run a trace of containers on a YARN cluster and show what became of the jobs.",
    ),
    "mapreduce": Listed(
        "workloads.mapreduce",
        "Run jobs on map and reduce slots, as Hadoop 1 has them, and show what became of them.",
    ),
    "dss": Listed(
        "workloads.dss",
        "Run a trace as the YARN simulator DSS does, and write its files, byte for byte.",
    ),
    "cache": Listed(
        "cache", "Show the compiled code, models and parser tables that are kept between runs."
    ),
    "conformance": Listed(
        "models.conformance",
        "Compare verdicts and counts with those of a suite. Exit code 1 if any differ.",
    ),
    "explore": Listed("models.explore", "Try all orders of messages and all choices of a model."),
    "replay": Listed(
        "models.explore",
        "Do a saved counterexample again, step by step, and check that it fits the model.",
    ),
    "draw": Listed("models.draw", "Draw who knows whom in a model, or its state space."),
    "scenarios": Listed(
        "studies.compare",
        "List the built-in scenarios; with --plugin, see whether plug-ins can be loaded.",
    ),
    "compare": Listed(
        "studies.compare", "Compare policies: tables, charts, data and a report of a scenario."
    ),
    "reproduce": Listed(
        "studies.compare",
        "Run the published scenarios and put the figures beside the published ones.",
    ),
    "live": Listed(
        "models.live", "Run a model for real: every rebec is an actor with a thread of its own."
    ),
    "check": Listed("models.simulate", "Check models: syntax, names and types."),
    "generate": Listed(
        "models.simulate", "Generate one model for each configuration of a scenario."
    ),
    "simulate": Listed(
        "models.simulate",
        "Run a model once and show what happens, message by message; with --runs, many times.",
    ),
    "races": Listed("models.races", "Find steps whose order matters, and say what comes of it."),
    "step": Listed(
        "models.step", "Steer a run: see the rebecs, pick the next message, take it back."
    ),
    "runs": Listed("studies.store", "List all runs below a directory."),
    "query": Listed(
        "studies.store",
        "Answer SQL over all runs below a directory; without SQL, list the views.",
    ),
    "report": Listed("studies.store", "Draw the report of a run again, without simulating."),
    "diff": Listed(
        "studies.store",
        "Compare two runs: settings, the figures of every cell, and what else a kind can compare.",
    ),
    "workload": Listed(
        "workloads.workload", "Logs of real machines and synthetic ones: look, make, cut, judge."
    ),
}
"""All commands, in the order of the help."""


class _Commands(TyperGroup):
    """Lists the commands without importing them; imports the one that is to be run."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.imported = dict(self.commands)  # what modules that are imported have registered
        for name, listed in COMMANDS.items():
            self.commands[name] = TyperCommand(name, help=listed.help)

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        return name, command if name is None else _imported(name), rest


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from rebecsim import __version__

        typer.echo(f"rebecsim {__version__}")
        raise typer.Exit


@app.callback()
def rebecsim(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Show the version and end.", callback=_show_version, is_eager=True
        ),
    ] = False,
) -> None:
    """A Timed Rebeca workbench: check, generate, simulate and compare actor models."""


@cache
def program() -> Any:
    """Give all commands as one that can be called, any number of times in a process."""
    return typer.main.get_command(app)


@cache
def _imported(name: str) -> Any:
    """Import the module of a command, which registers it, and give the command."""
    import_module(f"rebecsim.cli.{COMMANDS[name].module}")
    group = typer.main.get_command(app)
    assert isinstance(group, _Commands)
    return group.imported[name]
