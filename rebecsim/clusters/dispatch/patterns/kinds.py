"""The two kinds of patterns, arrivals and lengths, as types whose members are registered.

A value of such a type is a table with the key `pattern`, which names a registered class; plug-ins
may add classes at any time, so the members are looked up when a value is validated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, PydanticKnownError, core_schema

from rebecsim.clusters.dispatch.patterns.base import MAX_ARRIVALS, MAX_POINTS, WorkloadPattern
from rebecsim.clusters.dispatch.patterns.curves import Sine, Spline
from rebecsim.clusters.dispatch.patterns.steps import (
    Ascending,
    Bursty,
    Descending,
    Geometric,
    Linear,
    Nondet,
    UniformArrivals,
    UniformLengths,
    Wave,
)
from rebecsim.clusters.kit.plugin_errors import blaming
from rebecsim.clusters.kit.registry import Registry, UnknownNameError

_FOR_BOTH = (Nondet, Wave, Ascending, Descending, Sine, Spline)

BUILTIN_ARRIVAL_PATTERNS: tuple[type[WorkloadPattern], ...] = (UniformArrivals, Bursty, *_FOR_BOTH)
BUILTIN_LENGTH_PATTERNS: tuple[type[WorkloadPattern], ...] = (
    UniformLengths,
    Linear,
    Geometric,
    *_FOR_BOTH,
)

arrivals: Registry[type[WorkloadPattern]] = Registry("arrival pattern")
lengths: Registry[type[WorkloadPattern]] = Registry("length pattern")

ARRIVAL_PATTERNS = arrivals.entries
"""The classes of arrival patterns by what the key `pattern` may say."""

LENGTH_PATTERNS = lengths.entries
"""The classes of length patterns by what the key `pattern` may say."""

for _registry, _patterns in (
    (arrivals, BUILTIN_ARRIVAL_PATTERNS),
    (lengths, BUILTIN_LENGTH_PATTERNS),
):
    for _pattern in _patterns:
        for _name in _pattern.names():
            _registry.add(_name, _pattern)


@dataclass(frozen=True)
class _RegisteredPattern:
    """Marks a field whose value is a pattern of a registry."""

    registry: Registry[type[WorkloadPattern]]

    def __get_pydantic_core_schema__(self, _: Any, __: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            self._validated,
            serialization=core_schema.plain_serializer_function_ser_schema(_dumped, info_arg=True),
        )

    def __get_pydantic_json_schema__(self, _: CoreSchema, __: GetJsonSchemaHandler) -> Any:
        classes = dict.fromkeys(self.registry.entries.values())
        return {"oneOf": [each.model_json_schema() for each in classes]}

    def _validated(self, value: object) -> WorkloadPattern:
        if isinstance(value, WorkloadPattern):
            if type(value) in self.registry.entries.values():
                return value
            raise PydanticCustomError(
                "pattern_of_another_kind",
                "{pattern} is no registered {kind}",
                {"pattern": value.label, "kind": self.registry.kind},
            )
        if not isinstance(value, Mapping):
            raise PydanticKnownError("dict_type")
        kind = self._class_of(value)
        with blaming(*self.registry.suspects(value["pattern"])):
            pattern = kind.model_validate(dict(value))
            _require_names(pattern)
        return pattern

    def _class_of(self, value: Mapping[str, object]) -> type[WorkloadPattern]:
        name = value.get("pattern")
        if not isinstance(name, str):
            raise PydanticCustomError(
                "pattern_missing", 'says no pattern; add for example pattern = "uniform"'
            )
        try:
            return self.registry.find(name)
        except UnknownNameError as error:
            raise PydanticCustomError("pattern_unknown", "{text}", {"text": str(error)}) from error


def _dumped(pattern: WorkloadPattern, info: core_schema.SerializationInfo) -> dict[str, Any]:
    return pattern.model_dump(mode=info.mode)


def _require_names(pattern: WorkloadPattern) -> None:
    """Raise TypeError unless a pattern has names fit for a comment and for a file."""
    if not isinstance(pattern.label, str) or not pattern.label.isprintable() or not pattern.label:
        raise TypeError(f"`label` must be a line of text, not {pattern.label!r}")
    if not isinstance(pattern.slug, str) or not (pattern.slug.isascii() and pattern.slug.isalnum()):
        raise TypeError(f"`slug` must be letters and digits, not {pattern.slug!r}")


def _require_few_arrivals(pattern: WorkloadPattern) -> WorkloadPattern:
    if pattern.largest(MAX_POINTS) > MAX_ARRIVALS:
        raise ValueError(f"more than {MAX_ARRIVALS} jobs in one time unit; use a smaller pattern")
    return pattern


Arrivals: TypeAlias = Annotated[
    WorkloadPattern, _RegisteredPattern(arrivals), AfterValidator(_require_few_arrivals)
]
"""Any registered arrival pattern, told apart by its key `pattern`."""

Lengths: TypeAlias = Annotated[WorkloadPattern, _RegisteredPattern(lengths)]
"""Any registered length pattern, told apart by its key `pattern`."""
