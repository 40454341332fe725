"""The kinds of clusters by name, of this package and of plug-ins, and commands of plug-ins.

A kind of this package is a folder with a module `study` whose `STUDY` is the kind, and a line here.
What plug-ins may bring to it is in its module `plugin_parts`, its commands are in `command`, and
its options of `compare` in `compare_options`. The file `commands.toml` says what the list of
commands shows of them, and the module of those that are in another one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rebecsim.clusters.kit.plugins import Registry

if TYPE_CHECKING:
    from rebecsim.clusters.kit.plugins import PluginPart
    from rebecsim.studies.study import Study

_FOLDERS = ("dispatch", "batch", "model", "yarn", "mapreduce", "stages", "slurm")
"""In the order in which a record of an old version, without a kind, is asked what it looks like."""

kinds: Registry[Callable[[], Study]] = Registry("kind of cluster")
"""What gives each kind; those of this package are imported when they are asked for."""


def _imported(folder: str) -> Study:
    from rebecsim.studies.study import Study

    study: Any = import_module(f"rebecsim.clusters.{folder}.study").STUDY
    assert isinstance(study, Study)
    return study


for _folder in _FOLDERS:
    kinds.add(_folder, partial(_imported, _folder))


def kind_names() -> tuple[str, ...]:
    """Return the names of the kinds."""
    return tuple(kinds.entries)


def commands_of_kinds() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Give the commands of the kinds, none of which is imported: module, name, and what is said.

    That is `help`, `example` and `place`.
    """
    import tomllib  # only where the kinds are asked

    for folder in _FOLDERS:
        file = Path(__file__).parent / folder / "commands.toml"
        if file.is_file():
            for name, said in tomllib.loads(file.read_text("utf-8")).items():
                module = said.pop("module", "command")
                yield f"rebecsim.clusters.{folder}.{module}", name, said


def compare_options() -> Iterator[type]:
    """Give the groups of options from which `compare` can make a scenario of some kind.

    Each has a method `scenario`, which takes what is compared, and gives None without its options.
    """
    for folder in _FOLDERS:
        name = f"rebecsim.clusters.{folder}.compare_options"
        if find_spec(name) is not None:
            yield from import_module(name).COMPARE_OPTIONS


def starts_workers_early(kind: object) -> bool:
    """Whether a kind says in its folder that workers start before it is imported itself."""
    if kind not in _FOLDERS:
        return False
    return getattr(import_module(f"rebecsim.clusters.{kind}"), "STARTS_WORKERS_EARLY", False)


def parts_of_kinds() -> Iterator[PluginPart]:
    """Give what plug-ins may bring to the kinds of this package; those are imported."""
    for folder in _FOLDERS:
        name = f"rebecsim.clusters.{folder}.plugin_parts"
        if find_spec(name) is not None:
            yield from import_module(name).PLUGIN_PARTS


def find_kind(name: str) -> Study:
    """Return the kind of this name. Raises UnknownNameError when there is none."""
    return kinds.find(name)()


_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command that `rebecsim NAME` runs."""

    name: str
    """What the user types, in lower-case letters, digits and `-`."""

    run: Callable[..., None]
    """A function whose parameters and docstring give options and help, as Typer reads them."""

    example: str
    """What follows `rebecsim` in the first line of its help, as in `hello --to you`."""


commands: Registry[Command] = Registry("command")
"""Those of plug-ins; `rebecsim.cli.app` lists those of the package, which come first."""


def require_command(command: object) -> None:
    """Raises TypeError or ValueError where a plug-in brings a command that cannot be one."""
    if not isinstance(command, Command):
        raise TypeError(f"{command!r} is no Command")
    if not isinstance(command.name, str) or not _NAME.fullmatch(command.name):
        raise ValueError(
            f"a command cannot be called {command.name!r}; "
            "use lower-case letters, digits and -, with a letter first"
        )
    if not callable(command.run):
        raise TypeError(f"command {command.name}: {command.run!r} is no function")
