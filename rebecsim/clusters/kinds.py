"""The kinds of clusters by name, and loading plug-ins, which may bring kinds and commands.

A kind of this package is a folder with a module `study` whose `STUDY` is the kind, and a line here.
What plug-ins may bring to it is in its module `plugin_parts`, its commands are in `command`, and
its options of `compare` in `compare_options`. The file `commands.toml` says what the list of
commands shows of them, and the module of those that are in another one.

A plug-in is a program of the user's own, and is executed: from a file that the user names, from an
installed package, or from a folder. What it brings is tried before it is accepted, so that its
errors are reported when it is loaded as far as possible. Plug-ins may be of any kind: all kinds are
imported when there is one, and not before.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from rebecsim.clusters.kit.plugins import PluginSource, Registry
from rebecsim.errors import UserError
from rebecsim.processes import carried
from rebecsim.trust import PluginRecord

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from rebecsim.clusters.kit.plugins import PluginPart
    from rebecsim.clusters.plugin import Plugin
    from rebecsim.studies.dask_executor import DaskExecutor
    from rebecsim.studies.executors import ThisProcess, WorkerPool
    from rebecsim.studies.plan import Plan
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
        raise TypeError(f"{command!r} is not a Command")
    if not isinstance(command.name, str) or not _NAME.fullmatch(command.name):
        raise ValueError(
            f"a command cannot be called {command.name!r}; "
            "use lower-case letters, digits and -, with a letter first"
        )
    if not callable(command.run):
        raise TypeError(f"command {command.name}: {command.run!r} is not a function")


ENTRY_POINT_GROUP = "rebecsim.plugins"
"""Where packages announce their plug-ins."""

_NO_PLUGIN = "has no global `plugin` of type rebecsim.clusters.Plugin"


@dataclass(frozen=True)
class _Loaded:
    record: PluginRecord
    source: PluginSource
    plugin: Plugin


_loaded: list[_Loaded] = []


def loaded_plugins() -> tuple[PluginRecord, ...]:
    """Return the plug-ins on which runs may depend, in the order of loading."""
    return tuple(loaded.record for loaded in _loaded if loaded.plugin.is_for_runs)


def loaded_plugin_files() -> tuple[str, ...]:
    """Return the files of those plug-ins that came from files of their own."""
    return tuple(
        each.source.path
        for each in _loaded
        if each.plugin.is_for_runs and ": " not in each.record.name
    )


def load_plugins(files: Iterable[Path]) -> tuple[PluginRecord, ...]:
    """Load the plug-ins of installed packages, then those in files; return those of the files.

    Raises PluginError when one of them cannot be used.
    """
    load_installed_plugins()
    return tuple(load_plugin(file) for file in files)


def load_plugin(path: str | Path) -> PluginRecord:
    """Load a plug-in: a Python file whose global `plugin` is a `Plugin`.

    The file is executed. Loading the same text from the same place again changes nothing. Raises
    PluginError, and leaves everything as it was, when the plug-in cannot be used.
    """
    shown, place = str(path), str(Path(path).resolve())
    try:
        content = carried(Path(path)).read_bytes()
        text = content.decode("utf-8-sig")
    except OSError as error:
        raise PluginSource(shown, place, "").error(f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise PluginSource(shown, place, "").error("is not UTF-8 text") from error
    digest = hashlib.sha256(content).hexdigest()
    for loaded in _loaded:
        if loaded.source.path == place and loaded.record.sha256 == digest:
            return loaded.record
    source = PluginSource(shown, place, text)
    module = _executed(source, content, digest)
    plugin = getattr(module, "plugin", None)
    return _accept(plugin, source, PluginRecord(Path(path).name, digest), _NO_PLUGIN)


def load_plugin_folder(folder: Path) -> PluginRecord:
    """Load a plug-in that is a package in a folder: its `__init__` has the global `plugin`.

    The package is imported under the name of the folder. Raises PluginError as `load_plugin`.
    """
    file = folder / "__init__.py"
    content = file.read_bytes()
    source = PluginSource(str(file), str(file), content.decode("utf-8", errors="replace"))
    record = PluginRecord(f"{folder.name}: plugin", hashlib.sha256(content).hexdigest())
    if any(loaded.record == record for loaded in _loaded):
        return record
    if folder.name not in sys.modules:
        spec = spec_from_file_location(folder.name, file)
        assert spec is not None
        assert spec.loader is not None
        sys.modules[folder.name] = module = module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except (Exception, SystemExit) as error:
            del sys.modules[folder.name]
            raise source.error(f"{type(error).__name__}: {error}") from error
    return _accept(getattr(sys.modules[folder.name], "plugin", None), source, record, _NO_PLUGIN)


def load_installed_plugins() -> tuple[PluginRecord, ...]:
    """Load the plug-ins of installed packages, found by the entry point group `rebecsim.plugins`.

    An entry point names a global of type `Plugin`, as in `mine = my_package.my_module:plugin`.
    Those that are loaded already are left alone. Returns all of them. Raises PluginError when one
    cannot be used.
    """
    from importlib.metadata import entry_points  # slow, and no command needs it to be listed

    found = sorted(entry_points(group=ENTRY_POINT_GROUP))
    return tuple(_from_entry_point(point) for point in found)


def unload_plugin(record: PluginRecord) -> None:
    """Take out everything that a plug-in has brought. Raises ValueError if it is not loaded."""
    for loaded in _loaded:
        if loaded.record == record:
            from rebecsim.clusters.plugin import uninstall

            uninstall(loaded.plugin.fragments, loaded.source)
            _loaded.remove(loaded)
            return
    raise ValueError(f"{record.name} is not loaded")


def _from_entry_point(point: EntryPoint) -> PluginRecord:
    package = point.dist.name if point.dist is not None else point.module
    name = f"{package}: {point.name}"
    for loaded in _loaded:
        if loaded.record.name == name:
            return loaded.record
    shown = f"plug-in {point.name} of package {package} ({point.value})"
    try:
        plugin = point.load()
    except (Exception, SystemExit) as error:  # whatever the package raises
        raise PluginSource(shown, "", "").error(f"{type(error).__name__}: {error}") from error
    path = getattr(sys.modules.get(point.module), "__file__", None) or ""
    content = Path(path).read_bytes() if path else b""
    source = PluginSource(shown, path, content.decode("utf-8", errors="replace"))
    record = PluginRecord(name, hashlib.sha256(content).hexdigest())
    return _accept(plugin, source, record, "is no rebecsim.clusters.Plugin")


def _executed(source: PluginSource, content: bytes, digest: str) -> ModuleType:
    """Run the text that has been read, so that what is run is what is recorded."""
    name = f"rebecsim_plugin_{digest[:16]}"
    module = ModuleType(name)
    module.__file__ = source.path
    sys.modules[name] = module  # pydantic looks up the annotations of patterns there
    try:
        exec(compile(content, source.path, "exec"), vars(module))  # noqa: S102 - a user's program
    except (Exception, SystemExit) as error:  # whatever the user's program raises
        del sys.modules[name]
        message = f"{type(error).__name__}: {error}"
        raise source.error(message, source.line_of_error(error)) from error
    return module


def _accept(plugin: object, source: PluginSource, record: PluginRecord, wrong: str) -> PluginRecord:
    """Take a plug-in in. Raises PluginError, saying what is `wrong` if it is none."""
    from rebecsim.clusters.plugin import Plugin, accept

    if not isinstance(plugin, Plugin):
        raise source.error(wrong)
    source = PluginSource(source.name, source.path, source.text, plugin.fragments)
    accept(plugin, source)
    _loaded.append(_Loaded(record, source, plugin))
    return record


def executor_with_plugins(
    workers: int, modules: Sequence[str]
) -> AbstractContextManager[WorkerPool | ThisProcess]:
    """Give worker processes that begin with `modules` imported; else as `executor_of`."""
    from rebecsim.studies.executors import executor_of

    prepare: Callable[[], object] | None = None
    if loaded_plugins():
        prepare = partial(load_plugins, [Path(file) for file in loaded_plugin_files()])
    return executor_of(workers, modules, prepare)


def dask_with_plugins(
    address: str, workers: int, plan: Plan, tell: Callable[[str], None]
) -> AbstractContextManager[DaskExecutor]:
    """Give the workers of a Dask cluster, with the files that a plan names; as `dask_executor`."""
    from rebecsim.studies.dask_executor import TaskInputs, dask_executor

    plugins = [Path(file) for file in loaded_plugin_files()]
    named = [plan.folder / file for file in plan.files().values()]
    prepare = partial(have_plugins, plugins, loaded_plugins())
    return dask_executor(address, workers, TaskInputs.with_files([*plugins, *named], prepare), tell)


def have_plugins(files: Sequence[Path], wanted: Sequence[PluginRecord]) -> None:
    """Have these plug-ins and no others, in a process that may have those of another run.

    Raises PluginError when one cannot be loaded, UserError when a package has another one here.
    """
    for record in reversed(loaded_plugins()):
        unload_plugin(record)
    load_plugins(files)
    if missing := [each.name for each in wanted if each not in loaded_plugins()]:
        raise UserError(
            f"a worker has no plug-in {missing[0]}, or another version of it; install the same "
            "packages there"
        )
