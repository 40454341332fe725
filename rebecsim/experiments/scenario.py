"""Scenario files: which policies to compare, on which workloads and cluster sizes, and how often.

A scenario is a TOML file. Every key stands below with its meaning, in the fields of `Scenario`;
a small one is

    name = "small"
    policies = ["EDF", "FIFO"]
    app_masters = [1, 2, 3]
    queue_size = 12
    epsilon = 2.0

    [[arrivals]]
    pattern = "uniform"
    count = 1

    [[lengths]]
    pattern = "nondet"
    minimum = 1
    maximum = 6

The patterns and their keys are those of `rebecsim.cluster.patterns` and of plug-ins. With several
entries under `arrivals` and `lengths` every pair of them is run.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic_core import PydanticCustomError
from pydantic_core.core_schema import ValidationInfo

from rebecsim.cluster.configuration import (
    ClusterConfiguration,
    ClusterSize,
    Configuration,
    Epsilon,
    HighPriority,
    QueueSize,
)
from rebecsim.cluster.eviction import eviction_policy
from rebecsim.cluster.hardware import Power, Speeds
from rebecsim.cluster.loading import load_installed_plugins
from rebecsim.cluster.natjam import Eviction, NatjamConfiguration
from rebecsim.cluster.patterns import (
    ARRIVAL_PATTERNS,
    LENGTH_PATTERNS,
    MAX_LENGTH,
    Arrivals,
    Lengths,
    WorkloadPattern,
)
from rebecsim.cluster.policies import dispatch_policy
from rebecsim.cluster.registry import UnknownNameError
from rebecsim.errors import UserError
from rebecsim.experiments.precision import parse_precision
from rebecsim.experiments.scenario_errors import Problem, ScenarioError, problems_of
from rebecsim.experiments.scenario_files import builtin_scenarios, read_scenario_text
from rebecsim.experiments.toml_lines import FieldPath
from rebecsim.metrics import DEADLINE_MISSES
from rebecsim.simulate import Order

__all__ = [
    "MAX_CONFIGURATIONS",
    "ChoiceLaw",
    "Scenario",
    "ScenarioError",
    "builtin_scenarios",
    "load_scenario",
]

MAX_CONFIGURATIONS = 100_000
"""Most models of one scenario: each is generated and simulated."""

ChoiceLaw = Literal["fair", "rmc"]

_List = Field(strict=False, min_length=1)
"""A list of at least one entry, which TOML and JSON give as a list and the scenario keeps as a
tuple; the entries themselves are not converted."""


class Scenario(BaseModel):
    """A comparison of policies, as read from a scenario file.

    With a table `[eviction]` the policies are those that choose which running job is put aside for
    another; without, those that choose which waiting job runs next.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    name: str = Field(
        pattern=r"^[a-z][a-z0-9_]*$", max_length=60, description="identifier, used for file names"
    )
    title: str = Field(default="", max_length=200, description="heading of charts and reports")
    description: str = Field(default="", max_length=10_000, description="what the scenario shows")
    eviction: Eviction | None = Field(
        default=None,
        description="running jobs are put aside for others; compares eviction policies",
    )
    policies: Annotated[tuple[str, ...], _List] = Field(
        description="names of the policies to compare"
    )
    app_masters: Annotated[tuple[ClusterSize, ...], _List] = Field(
        description="cluster sizes to run: numbers of AppMasters"
    )
    queue_size: QueueSize
    epsilon: Epsilon
    high_priority: HighPriority = Field(
        default=HighPriority(),
        description="jobs of high priority; matters to PRIORITY and to eviction",
    )
    speeds: Speeds = ()
    power: Power = Field(
        default=Power(), description="power draw of AppMasters; without it no energy is computed"
    )
    replications: int = Field(
        default=100,
        ge=1,
        le=10**9,
        description="independent runs of each configuration; with a precision, at most so many",
    )
    precision: str | None = Field(
        default=None,
        description="run until the deadline misses of every policy are known so well: 1% is the "
        "half-width of the interval, of the estimate",
    )
    ticks: int = Field(
        default=100,
        ge=1,
        le=10**6,
        description="time units simulated: 0 .. ticks - 1, with all messages of the last one",
    )
    order: Order = Field(
        default="random",
        description="which of the messages of one time unit are served first: random, "
        "updates-first, ticks-first or fifo",
    )
    seed: int = Field(default=2015, ge=0, lt=2**63, description="where the random numbers start")
    choice_law: ChoiceLaw = Field(
        default="fair",
        description="fair: alternatives of a choice are equally likely; rmc: the last one of k "
        "has probability 2/(k+1), as in the code that RMC generates",
    )
    arrivals: Annotated[tuple[Arrivals, ...], _List] = Field(description="jobs per time unit")
    lengths: Annotated[tuple[Lengths, ...], _List] = Field(description="time units of work per job")

    @property
    def heading(self) -> str:
        """The title, or the name when there is none."""
        return self.title or self.name

    @field_validator("policies")
    @classmethod
    def _policies_exist(cls, names: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        find = dispatch_policy if info.data.get("eviction") is None else eviction_policy
        for position, name in enumerate(names):
            try:
                find(name)
            except UnknownNameError as error:
                raise PydanticCustomError(
                    "unknown_policy", "{text}", {"text": str(error), "entry": position}
                ) from error
        return names

    @field_validator("precision")
    @classmethod
    def _precision_can_be_read(cls, text: str | None) -> str | None:
        if text is not None:
            try:
                parse_precision(text, DEADLINE_MISSES)
            except UserError as error:
                raise ValueError(str(error)) from error
        return text

    @field_validator("policies", "app_masters", "arrivals", "lengths")
    @classmethod
    def _no_duplicates(cls, entries: tuple[object, ...]) -> tuple[object, ...]:
        for position, entry in enumerate(entries):
            first = entries.index(entry)
            if first < position:
                shown = entry.label if isinstance(entry, WorkloadPattern) else repr(entry)
                raise PydanticCustomError(
                    "duplicate",
                    "{shown} stands there twice (first as entry {first}); remove one",
                    {"shown": shown, "first": first, "entry": position},
                )
        return entries

    @field_validator("arrivals", "lengths")
    @classmethod
    def _files_have_different_names(
        cls, patterns: tuple[WorkloadPattern, ...]
    ) -> tuple[WorkloadPattern, ...]:
        slugs = [pattern.slug for pattern in patterns]
        for position, pattern in enumerate(patterns):
            first = slugs.index(pattern.slug)
            if first < position:
                raise PydanticCustomError(
                    "same_name",
                    "has the same short name as entry {first}: {slug}; "
                    "the pattern must give different labels",
                    {"slug": pattern.slug, "first": first, "entry": position},
                )
        return patterns

    @field_validator("lengths")
    @classmethod
    def _lengths_stay_in_range(
        cls, lengths: tuple[WorkloadPattern, ...], info: ValidationInfo
    ) -> tuple[WorkloadPattern, ...]:
        ticks = info.data.get("ticks")
        for position, pattern in enumerate(lengths):
            if ticks is not None and pattern.largest(ticks) > MAX_LENGTH:
                raise PydanticCustomError(
                    "too_long",
                    "jobs get longer than {limit} within {ticks} ticks; lower either",
                    {"limit": MAX_LENGTH, "ticks": ticks, "entry": position},
                )
        return lengths

    @model_validator(mode="after")
    def _hardware_is_for_dispatch(self) -> Self:
        if self.eviction is not None and self.measures_busy_time:
            raise ValueError("speeds and power are for scenarios without [eviction]; remove either")
        return self

    @model_validator(mode="after")
    def _few_configurations(self) -> Self:
        count = self.configuration_count
        if count > MAX_CONFIGURATIONS:
            raise ValueError(
                f"policies x arrivals x lengths x app_masters are {count} configurations, at most "
                f"{MAX_CONFIGURATIONS} are allowed; shorten a list"
            )
        return self

    @property
    def configuration_count(self) -> int:
        """How many configurations the scenario has."""
        return len(self.policies) * len(self.arrivals) * len(self.lengths) * len(self.app_masters)

    @property
    def measures_busy_time(self) -> bool:
        """Whether the models count how long each AppMaster is busy."""
        return bool(self.speeds) or self.power.is_given

    def configurations(self) -> tuple[ClusterConfiguration, ...]:
        """Return every configuration: for each policy, arrivals, lengths and cluster size, in the
        order of the file, the cluster size changing fastest.
        """
        return tuple(
            self._configuration(
                policy=policy,
                arrivals=arrivals,
                lengths=lengths,
                app_masters=app_masters,
                queue_size=self.queue_size,
                epsilon=self.epsilon,
                high_priority=self.high_priority,
            )
            for policy, arrivals, lengths, app_masters in itertools.product(
                self.policies, self.arrivals, self.lengths, self.app_masters
            )
        )

    def _configuration(self, **common: Any) -> ClusterConfiguration:
        if self.eviction is not None:
            return NatjamConfiguration(**common, eviction=self.eviction)
        horizon = self.ticks if self.measures_busy_time else None
        return Configuration(**common, speeds=self.speeds, horizon=horizon)

    def replace(self, **changes: object) -> Scenario:
        """Return the scenario with some fields changed, e.g. `replace(replications=10)`.

        A change to None leaves the field as it is. Raises ScenarioError when the result is no
        valid scenario or a field does not exist.
        """
        given = {name: value for name, value in changes.items() if value is not None}
        return _validated(f"scenario {self.name}", {**self.model_dump(), **given}, {})


def load_scenario(source: str | Path) -> Scenario:
    """Read and validate a scenario.

    `source` is the name of a built-in scenario, or the path of a TOML file (a file that is called
    like a built-in scenario needs a folder in its path, such as `./for_edf`). Its policies and
    patterns are those of this package, of plug-ins loaded before and of installed plug-ins.

    Raises ScenarioError, which names everything that is wrong with the file, and PluginError for a
    plug-in that cannot be used.
    """
    load_installed_plugins()
    text = read_scenario_text(source)
    if text.is_of_workload:
        problem = Problem("is about a workload; `rebecsim compare` runs such scenarios")
        raise ScenarioError(text.origin, [problem])
    return _validated(text.origin, text.values, text.lines)


def _validated(
    origin: str, values: Mapping[str, object], lines: Mapping[FieldPath, int]
) -> Scenario:
    try:
        return Scenario.model_validate(dict(values))
    except ValidationError as error:
        raise ScenarioError(origin, problems_of(error, lines, _known_fields(values))) from error


def _known_fields(values: Mapping[str, object]) -> dict[FieldPath, dict[str, str]]:
    """Return the keys of every table of a scenario file, with their meaning.

    Those of a pattern depend on which pattern it is, so `values` holds what the file says.
    """
    fields: dict[FieldPath, dict[str, str]] = {
        (): _descriptions(Scenario),
        ("high_priority",): _descriptions(HighPriority),
        ("power",): _descriptions(Power),
        ("eviction",): _descriptions(Eviction),
    }
    for name, patterns in (("arrivals", ARRIVAL_PATTERNS), ("lengths", LENGTH_PATTERNS)):
        entries = values.get(name)
        for position, entry in enumerate(entries if isinstance(entries, list | tuple) else ()):
            pattern = entry.get("pattern") if isinstance(entry, dict) else None
            if isinstance(pattern, str) and pattern in patterns:
                fields[name, position] = _descriptions(patterns[pattern])
    return fields


def _descriptions(model: type[BaseModel]) -> dict[str, str]:
    return {name: field.description or "" for name, field in model.model_fields.items()}
