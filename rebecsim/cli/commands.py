"""The table of commands; only the one that is asked for is imported.

A name that is not in the table is looked for among the commands of plug-ins: of installed ones, and
of the files that `--plugin` names.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from rebecsim.cli.options import keep_inputs

if TYPE_CHECKING:
    from rebecsim.clusters.kinds import Command

WRITE = "Write and run a model"
VERIFY = "Verify a model"
COMPARE = "Compare policies"
WORKLOADS = "Run a cluster on your own workload"
PROGRAM = "The program itself"


class Listed(NamedTuple):
    """A command before it is imported: the module that registers it, and what its help says.

    `panel` is the part of the list that shows it, and `place` its order there; `example` stands
    first in its own help.
    """

    module: str
    help: str
    panel: str
    example: str
    place: int = 0

    def load(self) -> None:
        """Import its module, which registers it."""
        import_module(self.module)


COMMANDS = {
    "check": Listed(
        "rebecsim.cli.models.check",
        "Check models: syntax, names and types.",
        WRITE,
        "check models/ticket_service.rebeca",
    ),
    "new": Listed(
        "rebecsim.cli.models.check",
        "Write a small model to start from, with properties and a test.",
        WRITE,
        "new kiosk",
    ),
    "format": Listed(
        "rebecsim.cli.models.check",
        "Lay out models as the editor does; comments stay.",
        WRITE,
        "format models/ticket_service.rebeca --check",
    ),
    "generate": Listed(
        "rebecsim.cli.models.simulate",
        "Generate one model for each configuration of a scenario.",
        WRITE,
        "generate for_edf --out generated",
    ),
    "simulate": Listed(
        "rebecsim.cli.models.simulate",
        "Run a model and show each message; --runs: many runs.",
        WRITE,
        "simulate models/ticket_service.rebeca --until 12",
    ),
    "step": Listed(
        "rebecsim.cli.models.step",
        "Choose each message of a run yourself, and take it back.",
        WRITE,
        "step models/ticket_service.rebeca",
    ),
    "live": Listed(
        "rebecsim.cli.models.live",
        "Run a model in real time: each rebec is an actor.",
        WRITE,
        "live models/ticket_service.rebeca --speed 0 --until 20",
    ),
    "draw": Listed(
        "rebecsim.cli.models.explore",
        "Draw who knows whom in a model, or its state space.",
        WRITE,
        "draw models/ticket_service.rebeca --out topology.svg",
    ),
    "web": Listed(
        "rebecsim.cli.program",
        "Explore models and run studies in a browser, on this machine.",
        WRITE,
        "web models/",
    ),
    "explore": Listed(
        "rebecsim.cli.models.explore",
        "Try all message orders and choices; look for violations.",
        VERIFY,
        "explore models/ticket_service.rebeca",
    ),
    "races": Listed(
        "rebecsim.cli.models.races",
        "Find the message orders that matter, and what they change.",
        VERIFY,
        "races models/ticket_service.rebeca",
    ),
    "exact": Listed(
        "rebecsim.cli.models.quantities",
        "Compute best case, worst case and mean over all orders.",
        VERIFY,
        "exact models/ticket_service.rebeca --until 12 --reward office.left",
    ),
    "estimate": Listed(
        "rebecsim.cli.models.quantities",
        "Estimate probabilities from random runs, to within an error.",
        VERIFY,
        "estimate models/ticket_service.rebeca --until 12 --reach 'bob.tickets == 2'",
    ),
    "replay": Listed(
        "rebecsim.cli.models.explore",
        "Replay a saved counterexample and check that it fits.",
        VERIFY,
        "replay found.json models/ticket_service.rebeca",
    ),
    "conformance": Listed(
        "rebecsim.cli.models.conformance",
        "Compare verdicts and state counts with those of a suite.",
        VERIFY,
        "conformance conformance/",
    ),
    "compare": Listed(
        "rebecsim.cli.studies.compare",
        "Compare policies: tables, charts, data and a report.",
        COMPARE,
        "compare for_edf --replications 100 --out results",
    ),
    "scenarios": Listed(
        "rebecsim.cli.studies.compare",
        "List the built-in scenarios and policies.",
        COMPARE,
        "scenarios",
    ),
    "report": Listed(
        "rebecsim.cli.studies.store",
        "Draw the report of a stored run again; nothing is simulated.",
        COMPARE,
        "report results",
    ),
    "diff": Listed(
        "rebecsim.cli.studies.store",
        "Compare two stored runs: settings and figures.",
        COMPARE,
        "diff results/before results/after",
    ),
    "runs": Listed(
        "rebecsim.cli.studies.store",
        "List all runs in a directory.",
        COMPARE,
        "runs results",
    ),
    "query": Listed(
        "rebecsim.cli.studies.store",
        "Query stored runs with SQL.",
        COMPARE,
        'query "from cells" results',
    ),
    "reproduce": Listed(
        "rebecsim.cli.studies.reproduce",
        "Run published experiments; compare with the printed figures.",
        COMPARE,
        "reproduce against_mdf",
    ),
    "workload": Listed(
        "rebecsim.cli.workloads.workload",
        "Describe, generate, cut and convert workloads.",
        WORKLOADS,
        "workload info log.swf",
        place=5,
    ),
    "cache": Listed(
        "rebecsim.cli.program",
        "Show or clear what is kept between runs.",
        PROGRAM,
        "cache",
    ),
    "lsp": Listed(
        "rebecsim.cli.program",
        "Serve an editor over the Language Server Protocol.",
        PROGRAM,
        "lsp",
    ),
}
"""The commands of the program itself; those of kinds of clusters come from their folders."""


@cache
def all_commands() -> Mapping[str, Listed]:
    """Give all commands, in the order of the help."""
    from rebecsim.clusters.kinds import commands_of_kinds

    found = COMMANDS | {
        name: Listed(module=module, panel=WORKLOADS, **said)
        for module, name, said in commands_of_kinds()
    }
    panels = list(dict.fromkeys(listed.panel for listed in COMMANDS.values()))
    order = sorted(found, key=lambda name: (panels.index(found[name].panel), found[name].place))
    return {name: found[name] for name in order}


class _Commands(TyperGroup):
    """Lists the commands without importing them; imports the one that is to be run."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.imported = dict(self.commands)  # registered by modules imported so far
        self._list(COMMANDS)

    def _list(self, commands: Mapping[str, Listed]) -> None:
        for name, listed in commands.items():
            self.commands[name] = TyperCommand(name, help=listed.help, rich_help_panel=listed.panel)

    def list_commands(self, ctx: Any) -> list[str]:
        return list(all_commands())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:  # so a kind or a plug-in may have it
            self._list(all_commands())
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        width = max(map(len, all_commands()))
        for panel, listed in groupby(all_commands().items(), lambda item: item[1].panel):
            with formatter.section(panel):
                formatter.write_dl([(name.ljust(width), each.help) for name, each in listed])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] not in COMMANDS and args[0] not in all_commands():
            args = [args[0], *_loaded_plugins(args[1:])]
            self.commands.update({name: TyperCommand(name) for name in _of_plugins()})
        name, command, rest = super().resolve_command(ctx, args)
        return name, command if name is None else _imported(name), rest


_SETTINGS = {"help_option_names": ["-h", "--help"]}

app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    context_settings=_SETTINGS,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
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
    """Model, simulate and verify actor models; compare cluster schedulers.

    `rebecsim COMMAND --help` shows the options of a command and an example.
    """


@cache
def program() -> Any:
    """Give all commands as one that can be called, any number of times in a process."""
    return typer.main.get_command(app)


@cache
def _imported(name: str) -> Any:
    """Import the module of a command, which registers it, and give the command."""
    listed = COMMANDS.get(name) or all_commands().get(name)
    if listed is None:
        brought = _of_plugins()[name]
        command, example = _alone(brought), brought.example
    else:
        listed.load()
        group = typer.main.get_command(app)
        assert isinstance(group, _Commands)
        command, example = group.imported[name], listed.example
    _unfold(command)
    command.help = f"Example: rebecsim {example}\n\n{command.help}"
    keep_inputs(command)
    return command


def _alone(brought: Command) -> Any:
    """Give a command that a plug-in brings, with the settings of all commands."""
    own = typer.Typer(add_completion=False, context_settings=_SETTINGS, rich_markup_mode=None)
    own.command(brought.name)(brought.run)
    return typer.main.get_command(own)


def _of_plugins() -> Mapping[str, Command]:
    """Load the plug-ins of installed packages, and give their commands by name."""
    from rebecsim.clusters.kinds import commands
    from rebecsim.clusters.loading import load_installed_plugins

    load_installed_plugins()
    return commands.entries


def _loaded_plugins(words: list[str]) -> list[str]:
    """Load the files after `--plugin`, of which one may bring the command; give the other words."""
    from rebecsim.clusters import load_plugin

    left, rest = [], iter(words)
    for word in rest:
        option, _, file = word.partition("=")
        if option == "--plugin" and (file := file or next(rest, "")):
            load_plugin(file)
        else:
            left.append(word)
    return left


def _unfold(command: Any) -> None:
    """Make each paragraph of the help one line, to be broken where the terminal ends.

    Typer does so with the first one, and keeps how the others are broken in the program.
    """
    paragraphs = (command.help or "").split("\n\n")
    command.help = "\n\n".join(" ".join(each.split()) for each in paragraphs)
    for each in getattr(command, "commands", {}).values():
        _unfold(each)
