"""Loading plug-ins: from files that the user names, from installed packages, and from folders.

A plug-in is a program of the user's own, and is executed. What it brings is tried before it is
accepted, so that its errors are reported when it is loaded as far as possible. Plug-ins may be of
any kind: all kinds are imported when there is one, and not before.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from rebecsim.clusters.kit.plugins import PluginSource
from rebecsim.processes import carried
from rebecsim.trust import PluginRecord

if TYPE_CHECKING:
    from rebecsim.clusters.plugin import Plugin

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
