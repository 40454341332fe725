"""What all commands share: the list of them, groups of options, common options, printing."""

from __future__ import annotations

import gc
import os
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache, wraps
from importlib import import_module
from inspect import Parameter, Signature, signature
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from rebecsim.clusters.kit.options import is_group, options_of, parameter as as_option
from rebecsim.errors import ArgumentError, UserError
from rebecsim.native.engines import Engine, usable
from rebecsim.trust import Consent, refuse_programs, run_programs
from rebecsim.wording import printable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.segment import Segment

    from rebecsim.clusters.kinds import Command
    from rebecsim.interface import LoadedModel


GroupsOfKinds = tuple[Any, ...]
"""The options of `compare` that kinds of clusters bring; see `grouped`."""


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command as typer reads it: each field of a group is an option.

    A group is a dataclass of options, or a table of scenarios. The options stand in the order of
    the parameters, those of a group in that of its fields. A parameter whose default is such a
    field is an option, too, and one of the type `GroupsOfKinds` gets all groups of kinds.
    """
    groups: dict[str, type] = {}
    of_kinds: dict[str, list[type]] = {}
    options: list[Parameter] = []
    hints = get_type_hints(command, include_extras=True)
    for parameter in signature(command).parameters.values():
        hint = hints[parameter.name]
        if hint == GroupsOfKinds:
            from rebecsim.clusters.kinds import compare_options

            of_kinds[parameter.name] = list(compare_options())
            options += chain.from_iterable(map(options_of, of_kinds[parameter.name]))
        elif is_group(hint):
            groups[parameter.name] = hint
            options += options_of(hint)
        else:
            options.append(as_option(parameter.name, hint, parameter.default))

    @wraps(command)
    def run(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = _taken(group, given)
        for name, several in of_kinds.items():
            given[name] = tuple(_taken(each, given) for each in several)
        command(**given)

    vars(run)["__signature__"] = Signature(options)
    run.__annotations__ = {option.name: option.annotation for option in options}
    return run


def _taken(group: Any, given: dict[str, Any]) -> Any:
    """Make one of a class of options, and take its values out of what was given.

    Raises UserError for values that a scenario could not have.
    """
    names = [each.name for each in fields(group)] if is_dataclass(group) else group.model_fields
    values = {name: given.pop(name) for name in names}
    try:
        return group(**values)
    except ValueError as error:
        from pydantic import ValidationError

        from rebecsim.studies.scenario_files import ScenarioError, problems_of

        if not isinstance(error, ValidationError):
            raise
        raise ScenarioError("the options", problems_of(error, {}, {})) from error


_READ = frozenset({"accounts", "conf", "gres", "like", "plugin", "property", "qos", "queues"})
_READ |= {"replay", "reservations", "shares", "topology", "yarn_site"}
"""Options that name files to be read. Arguments do, too; all other options name files to write."""


def keep_inputs(command: Any) -> None:
    """Let a command and its subcommands refuse, before they begin, to overwrite their inputs."""
    for each in getattr(command, "commands", {}).values():
        keep_inputs(each)
    run, parameters = command.callback, command.params
    if run is None:
        return

    def guarded(**given: Any) -> Any:
        _require_other_files(parameters, given)
        try:
            return run(**given)
        except ArgumentError as error:
            hint = _option_of(parameters, error.argument)
            raise typer.BadParameter(error.fault, param_hint=hint) from error

    command.callback = guarded


def _require_other_files(parameters: list[Any], given: dict[str, Any]) -> None:
    read = [
        path
        for each in parameters
        if each.param_type_name == "argument" or each.name in _READ
        for path in _files(given.get(each.name))
    ]
    for each in parameters:
        if each.param_type_name == "argument" or each.name in _READ or each.type.name != "path":
            continue
        for path in _files(given.get(each.name)):
            if any(path.samefile(other) for other in read):
                raise UserError(
                    f"{each.opts[0]} {path}: the command reads this file and would write over it; "
                    "give another name"
                )


def _option_of(parameters: list[Any], argument: str) -> str:
    """Give the option that an argument of a function comes from."""
    for each in parameters:
        if each.name in (argument, argument.removesuffix("s")):
            return str(each.opts[0])
    return argument


def _files(value: object) -> Iterator[Path]:
    """Give the values that name existing files."""
    for each in value if isinstance(value, (list, tuple)) else (value,):
        if isinstance(each, (str, Path)) and os.path.isfile(each):  # noqa: PTH113 - SQL is too long
            yield Path(each)


Law = Literal["fair", "rmc"]
"""How `?(...)` draws: see the choice law of scenario files."""


def _usable_engine(engine: Engine) -> Engine:
    """Refuse an engine that is not installed, before any work is done."""
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
ModelFile = Annotated[Path, typer.Argument(help="A model (.rebeca, or .py with a global `model`).")]
Tts = Annotated[
    bool,
    typer.Option("--tts", help="Explore the timed transition system instead of floating time."),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as one object.")]
PerhapsUntil = Annotated[
    int | None, typer.Option(min=0, help="Serve messages up to this model time.")
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


def plain_console(**settings: Any) -> Console:
    """Make a console that shows texts as they are: control characters are written out.

    Colours are those of this program.
    """
    from rich.console import Console

    class PlainTextConsole(Console):
        def render(self, *shown: Any, **options: Any) -> Iterator[Segment]:
            for segment in super().render(*shown, **options):
                yield segment if segment.control else segment._replace(text=printable(segment.text))

    return PlainTextConsole(**settings)


@cache
def console() -> Console:
    """Give the console for tables and colours; many commands end without needing it."""
    return plain_console()


@cache
def error_console() -> Console:
    """Give the console on standard error, for progress."""
    return plain_console(stderr=True)


def consent_of(trust: bool) -> Consent:
    """Give what decides whether named Python files may run: `--trust`, or the user's answer.

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


class Listed(NamedTuple):
    """A command that is not imported yet: the module that registers it, and its help.

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


_ALLOCATIONS = 50_000


def main() -> None:
    """Run the program; whatever goes wrong gives one line on standard error and an exit code."""
    # To find plug-ins of its own, Pydantic reads about all packages there are; that takes long.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # What is imported stays, so searching it for garbage at every 700 objects is wasted time.
    gc.set_threshold(_ALLOCATIONS)
    try:
        try:
            program()(prog_name="rebecsim")
        finally:
            sys.stdout.flush()
    except SystemExit as ended:
        if not isinstance(ended.__context__, BrokenPipeError):  # made by rich
            raise
        failure: Exception = ended.__context__
    except Exception as error:
        failure = error
    from rebecsim.cli.endings import end_with

    sys.exit(end_with(failure))


@cache
def program() -> Any:
    """Give the program with all commands; a process may call it several times."""
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
    """Give a plug-in's command, with the settings that all commands share."""
    own = typer.Typer(add_completion=False, context_settings=_SETTINGS, rich_markup_mode=None)
    own.command(brought.name)(brought.run)
    return typer.main.get_command(own)


def _of_plugins() -> Mapping[str, Command]:
    """Load the plug-ins of installed packages, and give their commands by name."""
    from rebecsim.clusters.kinds import commands, load_installed_plugins

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
