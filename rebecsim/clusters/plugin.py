"""Plug-ins: policies, patterns and kinds that scenarios use, and commands of the program.

What comes with the package is registered where it is defined, so that a kind that is not asked for
is not imported; what a plug-in brings may be of any kind, and all are imported here. Each kind
says in its module `plugin_parts` what may be brought to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache, partial
from typing import Any

from rebecsim.clusters.kinds import Command, commands, kinds, parts_of_kinds, require_command
from rebecsim.clusters.kit.plugins import PluginPart, PluginSource, blaming
from rebecsim.generate.templates import add_templates, remove_templates
from rebecsim.studies.scenario import StudyScenario
from rebecsim.studies.study import Study

_KIND_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")

_MOVED = {
    **dict.fromkeys(("apart", "baseline", "charted", "kept", "told_apart"), "Study.comparison"),
    **dict.fromkeys(("beside", "caution"), "Study.comparison"),
    **dict.fromkeys(("require_exact", "reckon_exactly"), "Study.exact"),
    **dict.fromkeys(("completed", "is_of"), "StudyScenario.completed and is_like"),
}
"""Methods that kinds had, and what says the same now; a kind that still has one is refused."""


class Plugin:
    """What one file adds; at least one policy, pattern, kind or command.

    Attributes:
        parts: what it brings: the names of keyword arguments -> tuples. Each kind of cluster has
            names of its own, such as `dispatch_policies` or `yarn_schedulers`; `kinds` are whole
            kinds, of clusters or of whatever else there is to be compared; `commands` are commands
            of the program, those of an installed package being found by their names.
        fragments: template texts by the names that policies and patterns call them by.
    """

    def __init__(self, *, fragments: Mapping[str, str] | None = None, **parts: Any) -> None:
        known = [each.attribute for each in plugin_parts()]
        for name in parts:
            if name not in known:
                raise TypeError(f"a plug-in cannot bring {name}; give it one of {', '.join(known)}")
        self.parts: Mapping[str, Any] = parts
        self.fragments = {} if fragments is None else fragments

    @property
    def is_for_runs(self) -> bool:
        """Whether runs may depend on it: it brings more than commands."""
        return any(entries for name, entries in self.parts.items() if name != "commands")


@cache
def plugin_parts() -> tuple[PluginPart, ...]:
    """Give all that plug-ins may bring."""
    return (
        *parts_of_kinds(),
        PluginPart("kinds", kinds, _require_kind, _kind_name),
        PluginPart("commands", commands, require_command, _command_name),
    )


def accept(plugin: Plugin, source: PluginSource) -> None:
    """Register what a plug-in brings, and try it.

    Raises PluginError, and leaves everything as it was, when it cannot be used.
    """
    try:
        install(plugin, source)
    except (TypeError, ValueError) as error:
        raise source.error(str(error)) from error
    try:
        for part, entry in _brought(plugin):
            if part.attempt is not None:
                (name, *_) = part.names(entry)
                with blaming(*part.registry.suspects(name)):
                    part.attempt(entry)
    except Exception:
        uninstall(plugin.fragments, source)
        raise


def install(plugin: Plugin, source: PluginSource) -> None:
    """Register everything that a plug-in brings, or nothing.

    Raises ValueError or TypeError, with a text that says what to mend, when the plug-in brings
    nothing or something unusable, or uses a name that is taken.
    """
    _require_texts(plugin.fragments)
    if not any(True for _ in _brought(plugin)):
        names = ", ".join(each.attribute for each in plugin_parts())
        raise ValueError(f"the plug-in is empty; give it one of {names}")
    add_templates(plugin.fragments)
    try:
        for part, entry in _brought(plugin):
            part.require(entry)
            for name in part.names(entry):
                part.registry.add(name, _registered(entry), source)
    except Exception:
        uninstall(plugin.fragments, source)
        raise


def uninstall(fragments: Mapping[str, str], source: PluginSource) -> None:
    """Take out what a plug-in with these fragments has brought."""
    remove_templates(fragments)
    for part in plugin_parts():
        part.registry.remove(source)


def _brought(plugin: Plugin) -> Iterator[tuple[PluginPart, Any]]:
    for part in plugin_parts():
        entries = plugin.parts.get(part.attribute, ())
        if not isinstance(entries, tuple | list):
            raise TypeError(f"{part.attribute} must be a tuple, like (mine,), not {entries!r}")
        for entry in entries:
            yield part, entry


def _registered(entry: Any) -> Any:
    """Give what a registry holds: that of kinds holds what gives them."""
    return partial(_itself, entry) if isinstance(entry, Study) else entry


def _itself(study: Study) -> Study:
    return study


def _require_texts(fragments: object) -> None:
    if not isinstance(fragments, Mapping) or not all(
        isinstance(each, str) for pair in fragments.items() for each in pair
    ):
        raise TypeError("fragments must map names of templates to their texts")


def _command_name(command: Command) -> tuple[str, ...]:
    return (command.name,)


def _kind_name(study: Study) -> tuple[str, ...]:
    return (study.kind,)


def _require_kind(study: object) -> None:
    if not isinstance(study, Study):
        raise TypeError(f"{study!r} is not an object of a subclass of Study; write Mine() for Mine")
    name = type(study).__name__
    if not isinstance(getattr(study, "kind", None), str) or not _KIND_NAME.fullmatch(study.kind):
        raise TypeError(
            f'{name} needs a class variable kind = "mine", of lower-case letters, digits and _'
        )
    for method, now in _MOVED.items():
        if hasattr(study, method):
            raise TypeError(f"{name}.{method} has no effect; see {now}")
    if callable(study.modules) or callable(study.changes):
        raise TypeError(f"{name}: modules and changes are tuples, not methods")
    scenario = getattr(study, "scenario", None)
    if not isinstance(scenario, type) or not issubclass(scenario, StudyScenario):
        raise TypeError(f"{name} needs a class variable scenario, a subclass of StudyScenario")
    if scenario.model_fields["kind"].default != study.kind:
        raise TypeError(
            f'{scenario.__name__} needs a field kind: Literal["{study.kind}"] = "{study.kind}"'
        )
