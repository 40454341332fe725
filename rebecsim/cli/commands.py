"""The application: which commands there are; the one that is asked for is imported, no other."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from rebecsim.cli.inputs import keep_inputs

MODELS = "Models"
STUDIES = "Studies"
WORKLOADS = "Clusters and workloads"
PROGRAM = "The program itself"


class Listed(NamedTuple):
    """A command before it is imported: the module that registers it, and what its help says.

    `panel` is the part of the list that it is shown in, `example` how it is used.
    """

    module: str
    help: str
    panel: str
    example: str


COMMANDS = {
    "check": Listed(
        "models.check",
        "Check models: syntax, names and types.",
        MODELS,
        "check models/ticket_service.rebeca",
    ),
    "new": Listed(
        "models.check",
        "Write a small model to begin with, a property file and a test of both.",
        MODELS,
        "new kiosk",
    ),
    "format": Listed(
        "models.format",
        "Lay out models as the editor does: comments stay, and files are written in place.",
        MODELS,
        "format models/ticket_service.rebeca --check",
    ),
    "generate": Listed(
        "models.simulate",
        "Generate one model for each configuration of a scenario.",
        MODELS,
        "generate for_edf --out generated",
    ),
    "simulate": Listed(
        "models.simulate",
        "Run a model once and show what happens, message by message; with --runs, many times.",
        MODELS,
        "simulate models/ticket_service.rebeca --until 12",
    ),
    "step": Listed(
        "models.step",
        "Steer a run: see the rebecs, pick the next message, take it back.",
        MODELS,
        "step models/ticket_service.rebeca",
    ),
    "web": Listed(
        "web",
        "Explore models in a browser, by clicking; nothing leaves this machine.",
        MODELS,
        "web models/",
    ),
    "live": Listed(
        "models.live",
        "Run a model for real: every rebec is an actor with a thread of its own.",
        MODELS,
        "live models/ticket_service.rebeca --speed 0 --until 20",
    ),
    "explore": Listed(
        "models.explore",
        "Try all orders of messages and all choices of a model.",
        MODELS,
        "explore models/ticket_service.rebeca",
    ),
    "replay": Listed(
        "models.explore",
        "Do a saved counterexample again, step by step, and check that it fits the model.",
        MODELS,
        "replay found.json models/ticket_service.rebeca",
    ),
    "races": Listed(
        "models.races",
        "Find steps whose order matters, and say what comes of it.",
        MODELS,
        "races models/ticket_service.rebeca",
    ),
    "exact": Listed(
        "models.exact",
        "Find the least, the mean and the most that all orders of messages can come to.",
        MODELS,
        "exact models/ticket_service.rebeca --until 12 --reward office.left",
    ),
    "estimate": Listed(
        "models.estimate",
        "Estimate probabilities up to a time from random runs, to within an error.",
        MODELS,
        "estimate models/ticket_service.rebeca --until 12 --reach 'bob.tickets == 2'",
    ),
    "draw": Listed(
        "models.draw",
        "Draw who knows whom in a model, or its state space.",
        MODELS,
        "draw models/ticket_service.rebeca --out topology.svg",
    ),
    "conformance": Listed(
        "models.conformance",
        "Compare verdicts and counts with those of a suite. Exit code 1 if any differ.",
        MODELS,
        "conformance conformance/",
    ),
    "scenarios": Listed(
        "studies.compare",
        "List the built-in scenarios; with --plugin, see whether plug-ins can be loaded.",
        STUDIES,
        "scenarios",
    ),
    "compare": Listed(
        "studies.compare",
        "Compare policies: tables, charts, data and a report of a scenario.",
        STUDIES,
        "compare for_edf --replications 100 --out results",
    ),
    "reproduce": Listed(
        "studies.reproduce",
        "Run the published scenarios and put the figures beside the published ones.",
        STUDIES,
        "reproduce against_mdf",
    ),
    "runs": Listed(
        "studies.store",
        "List all runs below a directory.",
        STUDIES,
        "runs results",
    ),
    "query": Listed(
        "studies.store",
        "Answer SQL over all runs below a directory; without SQL, list the views.",
        STUDIES,
        'query "from cells" results',
    ),
    "report": Listed(
        "studies.store",
        "Draw the report of a run again, without simulating.",
        STUDIES,
        "report results",
    ),
    "diff": Listed(
        "studies.store",
        "Compare two runs: settings, the figures of every cell, and what else a kind can compare.",
        STUDIES,
        "diff results/before results/after",
    ),
    "batch": Listed(
        "workloads.batch",
        "Run a log through a batch scheduler and show what became of the jobs.",
        WORKLOADS,
        "batch log.swf --policy EASY --out easy.swf",
    ),
    "validate": Listed(
        "workloads.batch",
        "Check that a machine could have run a schedule, ours or another tool's.",
        WORKLOADS,
        "validate easy.swf --easy",
    ),
    "yarn": Listed(
        "workloads.yarn",
        "Run a trace of containers on a YARN cluster and show what became of the jobs.",
        WORKLOADS,
        "yarn jobs.json --nodes 8:memory=16000,cores=16 --scheduler REGULAR",
    ),
    "mapreduce": Listed(
        "workloads.mapreduce",
        "Run jobs on map and reduce slots, as Hadoop 1 has them, and show what became of them.",
        WORKLOADS,
        "mapreduce --jobs small:count=3,maps=2 --scheduler FAIR",
    ),
    "workflow": Listed(
        "workloads.workflow",
        "Look at a workflow of a file, draw it, and run it with a deadline.",
        WORKLOADS,
        "workflow montage.dax --draw montage.svg --manager EDF --multiplier 2",
    ),
    "dss": Listed(
        "workloads.dss",
        "Run a trace as the YARN simulator DSS does, and write its files, byte for byte.",
        WORKLOADS,
        "dss jobs.json racks.json 16000 16 1000 1000 1000 1",
    ),
    "workload": Listed(
        "workloads.workload",
        "Logs of real machines and synthetic ones: look, make, cut, judge.",
        WORKLOADS,
        "workload info log.swf",
    ),
    "lsp": Listed(
        "language_server",
        "Answer an editor in the Language Server Protocol, on standard input and output.",
        PROGRAM,
        "lsp",
    ),
    "cache": Listed(
        "cache",
        "Show the compiled code, models and parser tables that are kept between runs.",
        PROGRAM,
        "cache",
    ),
}
"""All commands, in the order of the help."""


class _Commands(TyperGroup):
    """Lists the commands without importing them; imports the one that is to be run."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.imported = dict(self.commands)  # what modules that are imported have registered
        for name, listed in COMMANDS.items():
            self.commands[name] = TyperCommand(name, help=listed.help, rich_help_panel=listed.panel)

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        return name, command if name is None else _imported(name), rest


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
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
    command = group.imported[name]
    command.epilog = f"Example:  rebecsim {COMMANDS[name].example}"
    _unfold(command)
    keep_inputs(command)
    return command


def _unfold(command: Any) -> None:
    """Make each paragraph of the help one line, to be broken where the terminal ends.

    Typer does so with the first one, and keeps how the others are broken in the program.
    """
    paragraphs = (command.help or "").split("\n\n")
    command.help = "\n\n".join(" ".join(each.split()) for each in paragraphs)
    for each in getattr(command, "commands", {}).values():
        _unfold(each)
