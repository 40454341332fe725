"""Plug-ins: policies, patterns and kinds that scenarios use, and commands of the program.

What comes with the package is registered where it is defined, so that a kind that nobody asks for
is not imported; what a plug-in brings may be of any kind, and all are imported here.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from rebecsim.clusters.batch.policies.backfilling import Backfilling
from rebecsim.clusters.batch.policies.orders import QueueOrder
from rebecsim.clusters.batch.policies.policy import BatchPolicy, batch_policies
from rebecsim.clusters.commands import Command, commands, require_command
from rebecsim.clusters.dispatch.eviction import EvictionPolicy, eviction_policies
from rebecsim.clusters.dispatch.patterns.base import WorkloadPattern
from rebecsim.clusters.dispatch.patterns.kinds import arrivals, lengths
from rebecsim.clusters.dispatch.policies import DispatchPolicy, dispatch_policies
from rebecsim.clusters.kinds import kinds
from rebecsim.clusters.kit.plugin_errors import PluginSource
from rebecsim.clusters.kit.registry import Registry
from rebecsim.clusters.mapreduce.schedulers.registry import SlotScheduler, slot_schedulers
from rebecsim.clusters.mapreduce.schedulers.scheduler import TaskScheduler
from rebecsim.clusters.stages.managers.manager import StageManager
from rebecsim.clusters.stages.managers.registry import StagesPolicy, stages_policies
from rebecsim.clusters.yarn.schedulers.registry import YarnScheduler, yarn_schedulers
from rebecsim.clusters.yarn.schedulers.scheduler import ContainerScheduler
from rebecsim.generate.templates import add_templates, has_template, remove_templates
from rebecsim.studies.scenarios.scenario import StudyScenario
from rebecsim.studies.study import Study

_POLICY_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,39}")
_PATTERN_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")

_WithClasses = BatchPolicy | SlotScheduler | StagesPolicy | YarnScheduler

_ATTRIBUTES = (
    "dispatch_policies",
    "eviction_policies",
    "batch_policies",
    "yarn_schedulers",
    "slot_schedulers",
    "stages_policies",
    "arrival_patterns",
    "length_patterns",
    "kinds",
    "commands",
)
_REGISTRIES: tuple[Registry[Any], ...] = (
    dispatch_policies,
    eviction_policies,
    batch_policies,
    yarn_schedulers,
    slot_schedulers,
    stages_policies,
    arrivals,
    lengths,
    kinds,
    commands,
)


@dataclass(frozen=True, kw_only=True)
class Plugin:
    """What one file adds; at least one policy, pattern, kind or command."""

    dispatch_policies: tuple[DispatchPolicy, ...] = ()
    """Ways to choose among the waiting jobs."""

    eviction_policies: tuple[EvictionPolicy, ...] = ()
    """Ways to choose the running job to be put aside."""

    batch_policies: tuple[BatchPolicy, ...] = ()
    """Ways to run the jobs of a batch queue."""

    yarn_schedulers: tuple[YarnScheduler, ...] = ()
    """Ways to share the containers of a cluster under YARN."""

    slot_schedulers: tuple[SlotScheduler, ...] = ()
    """Ways to share the map and reduce slots of a cluster of Hadoop 1."""

    stages_policies: tuple[StagesPolicy, ...] = ()
    """Ways to plan jobs of several stages with deadlines."""

    arrival_patterns: tuple[type[WorkloadPattern], ...] = ()
    """Classes of patterns that may stand under `arrivals`."""

    length_patterns: tuple[type[WorkloadPattern], ...] = ()
    """Classes of patterns that may stand under `lengths`."""

    kinds: tuple[Study, ...] = ()
    """Kinds of clusters, or of whatever else there is to be compared."""

    commands: tuple[Command, ...] = ()
    """Commands of the program; those of an installed package are found by their names."""

    fragments: Mapping[str, str] = field(default_factory=dict)
    """Template texts by the names that policies and patterns call them by."""

    @property
    def is_for_runs(self) -> bool:
        """Whether runs may depend on it: it brings more than commands."""
        return any(getattr(self, each) for each in _ATTRIBUTES if each != "commands")


def install(plugin: Plugin, source: PluginSource) -> None:
    """Register everything that a plug-in brings, or nothing.

    Raises ValueError or TypeError, with a text that says what to mend, when the plug-in brings
    nothing or something unusable, or uses a name that is taken.
    """
    _require_texts(plugin.fragments)
    if not any(_sequence(plugin, attribute) for attribute in _ATTRIBUTES):
        raise ValueError(f"the plug-in is empty; give it one of {', '.join(_ATTRIBUTES)}")
    add_templates(plugin.fragments)
    try:
        for registry, name, entry in _entries(plugin):
            registry.add(name, entry, source)
    except Exception:
        uninstall(plugin.fragments, source)
        raise


def uninstall(fragments: Mapping[str, str], source: PluginSource) -> None:
    """Take out what a plug-in with these fragments has brought."""
    remove_templates(fragments)
    for registry in _REGISTRIES:
        registry.remove(source)


def _entries(plugin: Plugin) -> Iterator[tuple[Registry[Any], str, Any]]:
    """Give what a plug-in brings, with registry and name; each is checked before it is given."""
    for policy in _sequence(plugin, "dispatch_policies"):
        _require_policy(policy, DispatchPolicy)
        yield dispatch_policies, policy.name, policy
    for policy in _sequence(plugin, "eviction_policies"):
        _require_policy(policy, EvictionPolicy)
        yield eviction_policies, policy.name, policy
    for policy in _sequence(plugin, "batch_policies"):
        _require_batch_policy(policy)
        yield batch_policies, policy.name, policy
    for policy in _sequence(plugin, "yarn_schedulers"):
        _require_scheduler(policy, YarnScheduler, ContainerScheduler)
        yield yarn_schedulers, policy.name, policy
    for policy in _sequence(plugin, "slot_schedulers"):
        _require_scheduler(policy, SlotScheduler, TaskScheduler)
        yield slot_schedulers, policy.name, policy
    for policy in _sequence(plugin, "stages_policies"):
        _require_stages_policy(policy)
        yield stages_policies, policy.name, policy
    for registry, attribute in ((arrivals, "arrival_patterns"), (lengths, "length_patterns")):
        for pattern in _sequence(plugin, attribute):
            _require_pattern(pattern)
            for name in pattern.names():
                yield registry, name, pattern

    for study in _sequence(plugin, "kinds"):
        _require_kind(study)
        yield kinds, study.kind, partial(_itself, study)
    for command in _sequence(plugin, "commands"):
        require_command(command)
        yield commands, command.name, command


def _itself(study: Study) -> Study:
    return study


def _sequence(plugin: Plugin, attribute: str) -> tuple[Any, ...]:
    entries = getattr(plugin, attribute)
    if not isinstance(entries, tuple | list):
        raise TypeError(f"{attribute} must be a tuple, like (mine,), not {entries!r}")
    return tuple(entries)


def _require_texts(fragments: object) -> None:
    if not isinstance(fragments, Mapping) or not all(
        isinstance(each, str) for pair in fragments.items() for each in pair
    ):
        raise TypeError("fragments must map names of templates to their texts")


def _require_policy(policy: object, kind: type[DispatchPolicy] | type[EvictionPolicy]) -> None:
    if not isinstance(policy, DispatchPolicy | EvictionPolicy) or not isinstance(policy, kind):
        raise TypeError(f"{policy!r} is no {kind.__name__}")
    _require_texts_of(policy)
    _require_fragment(policy.fragment, f"policy {policy.name}")


def _require_batch_policy(policy: object) -> None:
    if not isinstance(policy, BatchPolicy):
        raise TypeError(f"{policy!r} is no BatchPolicy")
    _require_texts_of(policy)
    _require_class(policy, "order", QueueOrder)
    _require_class(policy, "backfilling", Backfilling)


def _require_scheduler(
    policy: object, kind: type[YarnScheduler] | type[SlotScheduler], base: type
) -> None:
    if not isinstance(policy, YarnScheduler | SlotScheduler) or not isinstance(policy, kind):
        raise TypeError(f"{policy!r} is no {kind.__name__}")
    _require_texts_of(policy)
    _require_class(policy, "scheduler", base)


def _require_stages_policy(policy: object) -> None:
    if not isinstance(policy, StagesPolicy):
        raise TypeError(f"{policy!r} is no StagesPolicy")
    _require_texts_of(policy)
    _require_class(policy, "manager", StageManager)


def _require_class(policy: _WithClasses, attribute: str, base: type) -> None:
    given: Any = getattr(policy, attribute)
    if not isinstance(given, type) or not issubclass(given, base):
        kind = f"subclass of {base.__name__}"
        raise TypeError(f"policy {policy.name}: the {attribute} {given!r} is no {kind}")
    if inspect.isabstract(given):
        raise TypeError(f"policy {policy.name}: {given.__name__} does not define {_left(given)}")


def _left(abstract: Any) -> str:
    return ", ".join(sorted(abstract.__abstractmethods__))


def _require_texts_of(policy: DispatchPolicy | EvictionPolicy | _WithClasses) -> None:
    if not isinstance(policy.name, str) or not _POLICY_NAME.fullmatch(policy.name):
        raise ValueError(
            f"a policy cannot be called {policy.name!r}; "
            "use capital letters, digits and _, with a letter first"
        )
    for attribute in ("title", "description"):
        text = getattr(policy, attribute)
        if not isinstance(text, str) or not text or not text.isprintable():
            raise ValueError(f"policy {policy.name}: the {attribute} must be one line of text")


def _require_pattern(pattern: object) -> None:
    if not isinstance(pattern, type) or not issubclass(pattern, WorkloadPattern):
        raise TypeError(f"{pattern!r} is no subclass of WorkloadPattern")
    if inspect.isabstract(pattern):
        missing = ", ".join(sorted(pattern.__abstractmethods__))
        raise TypeError(f"pattern {pattern.__name__} does not define {missing}")
    names = pattern.names() if "pattern" in pattern.model_fields else ()
    if not names or not all(isinstance(n, str) and _PATTERN_NAME.fullmatch(n) for n in names):
        raise TypeError(
            f'pattern {pattern.__name__} needs a field like pattern: Literal["mine"] = "mine", '
            "of lower-case letters, digits and _, with a letter first"
        )
    if not isinstance(getattr(pattern, "uses_time", None), bool):
        raise TypeError(f"pattern {pattern.__name__} needs a class variable uses_time, a boolean")
    _require_fragment(getattr(pattern, "fragment", None), f"pattern {pattern.__name__}")


def _require_kind(study: object) -> None:
    if not isinstance(study, Study):
        raise TypeError(f"{study!r} is no object of a subclass of Study; write Mine() for Mine")
    name = type(study).__name__
    if not isinstance(getattr(study, "kind", None), str) or not _PATTERN_NAME.fullmatch(study.kind):
        raise TypeError(
            f'{name} needs a class variable kind = "mine", of lower-case letters, digits and _'
        )
    scenario = getattr(study, "scenario", None)
    if not isinstance(scenario, type) or not issubclass(scenario, StudyScenario):
        raise TypeError(f"{name} needs a class variable scenario, a subclass of StudyScenario")
    if scenario.model_fields["kind"].default != study.kind:
        raise TypeError(
            f'{scenario.__name__} needs a field kind: Literal["{study.kind}"] = "{study.kind}"'
        )


def _require_fragment(name: object, owner: str) -> None:
    if not isinstance(name, str) or not has_template(name):
        raise ValueError(f"{owner}: there is no fragment {name!r}; add it to `fragments`")
