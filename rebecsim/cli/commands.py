"""The table of commands; only the one that is asked for is imported.

A name that is not in the table is looked for among the commands of installed plug-ins.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from rebecsim.cli.options import keep_inputs

if TYPE_CHECKING:
    from rebecsim.clusters.kinds import Command

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



def _own_commands() -> dict[str, Listed]:
    """Read the commands of the program itself; those of kinds come from their folders."""
    file = Path(__file__).parent / "commands.toml"
    return {
        name: Listed(panel=panel, **said | {"module": f"rebecsim.cli.{said['module']}"})
        for panel, commands in tomllib.loads(file.read_text("utf-8")).items()
        for name, said in commands.items()
    }


COMMANDS = _own_commands()


@cache
def all_commands() -> Mapping[str, Listed]:
    """Give all commands, in the order of the help."""
    from rebecsim.clusters.kinds import commands_of_kinds

    panel = COMMANDS["workload"].panel
    found = COMMANDS | {
        name: Listed(module=module, panel=panel, **said)
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
        import_module(listed.module)
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


def _unfold(command: Any) -> None:
    """Make each paragraph of the help one line, to be broken where the terminal ends.

    Typer does so with the first one, and keeps how the others are broken in the program.
    """
    paragraphs = (command.help or "").split("\n\n")
    command.help = "\n\n".join(" ".join(each.split()) for each in paragraphs)
    for each in getattr(command, "commands", {}).values():
        _unfold(each)
