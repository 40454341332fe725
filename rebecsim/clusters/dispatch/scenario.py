"""Scenario files: which policies to compare, on which workloads and cluster sizes, and how often.

A scenario is a TOML file. Every key stands below with its meaning, in the fields of `Scenario`;
a small one is

    kind = "dispatch"
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

The patterns and their keys are those of `patterns` and of plug-ins. With several
entries under `arrivals` and `lengths` every pair of them is run.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, Field, field_validator, model_validator
from pydantic_core import PydanticCustomError
from pydantic_core.core_schema import ValidationInfo

from rebecsim.actors import ChoiceLaw
from rebecsim.clusters.dispatch.configuration import (
    ClusterConfiguration,
    ClusterSize,
    Configuration,
    Epsilon,
    HighPriority,
    Power,
    QueueSize,
    Speeds,
    Workload,
    counts_priorities,
)
from rebecsim.clusters.dispatch.measures import DEADLINE_MISSES
from rebecsim.clusters.dispatch.pattern_kinds import (
    ARRIVAL_PATTERNS,
    LENGTH_PATTERNS,
    Arrivals,
    Lengths,
)
from rebecsim.clusters.dispatch.patterns import MAX_LENGTH, WorkloadPattern
from rebecsim.clusters.dispatch.policies import dispatch_policy, eviction_policy
from rebecsim.clusters.dispatch.source import Eviction, NatjamConfiguration
from rebecsim.metrics import Metric
from rebecsim.studies.scenario import (
    ListOf,
    StudyScenario,
    require_known,
    unit,
    within,
    without_duplicates,
)
from rebecsim.studies.scenario_files import FieldPath
from rebecsim.studies.simulated import Order

MAX_CONFIGURATIONS = 100_000
"""Most models of one scenario: each is generated and simulated."""


class Scenario(StudyScenario):
    """A comparison of policies, as read from a scenario file.

    With a table `[eviction]` the policies are those that choose which running job is put aside for
    another; without, those that choose which waiting job runs next.
    """

    fixed: ClassVar[frozenset[str]] = frozenset({"app_masters", "arrivals", "lengths"})
    precise: ClassVar[Metric | None] = DEADLINE_MISSES

    kind: Literal["dispatch"] = Field("dispatch", description="the kind of cluster")
    eviction: Eviction | None = Field(
        None, description="running jobs are put aside for others; compares eviction policies"
    )
    policies: Annotated[tuple[str, ...], ListOf] = Field(
        description="names of the policies to compare"
    )
    app_masters: Annotated[tuple[ClusterSize, ...], ListOf] = Field(
        json_schema_extra=unit("AppMasters"), description="cluster sizes to run"
    )
    queue_size: QueueSize
    epsilon: Epsilon
    high_priority: HighPriority = Field(
        HighPriority(),
        description="jobs of high priority: PRIORITY runs them first, and eviction evicts for them",
    )
    workload: Workload = Field(
        "same",
        description="same: all policies get the same jobs; as-published: only policies that use "
        "priorities give jobs of high priority their length, so they get other jobs than the rest",
    )
    speeds: Speeds = ()
    power: Power = Field(
        Power(), description="power draw of AppMasters; without it no energy is computed"
    )
    ticks: Annotated[int, within(1, 10**6, "time units")] = Field(
        100, description="how long is simulated: 0 .. ticks - 1, with all messages of the last one"
    )
    order: Order = Field(
        "random",
        description="which of the messages of one time unit are served first: random, "
        "updates-first, ticks-first or fifo",
    )
    choice_law: ChoiceLaw = Field(
        "fair",
        description="fair: alternatives of a choice are equally likely; rmc: the last one of k "
        "has probability 2/(k+1), as in the code that RMC generates",
    )
    confidence: Annotated[float, within(50, 99.9, "%")] = Field(
        95.0, description="level of the intervals, and one less the risk of a false claim"
    )
    arrivals: Annotated[tuple[Arrivals, ...], ListOf] = Field(
        json_schema_extra=unit("jobs per time unit"), description="how many jobs come"
    )
    lengths: Annotated[tuple[Lengths, ...], ListOf] = Field(
        json_schema_extra=unit("time units"), description="work of each job"
    )

    @classmethod
    def is_like(cls, values: Mapping[str, Any]) -> bool:
        """Whether a file without a kind has AppMasters."""
        return "app_masters" in values

    @field_validator("policies")
    @classmethod
    def _policies_exist(cls, names: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        is_dispatch = info.data.get("eviction") is None
        require_known(names, dispatch_policy if is_dispatch else eviction_policy)
        return names

    _no_duplicates = field_validator("policies", "app_masters", "arrivals", "lengths")(
        without_duplicates
    )

    @field_validator("arrivals", "lengths")
    @classmethod
    def _files_have_different_names(
        cls, patterns: tuple[WorkloadPattern, ...]
    ) -> tuple[WorkloadPattern, ...]:
        places: dict[str, int] = {}
        for position, pattern in enumerate(patterns):
            first = places.setdefault(pattern.slug, position)
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
    def _eviction_has_one_workload(self) -> Self:
        if self.eviction is not None and self.workload != "same":
            raise ValueError(
                'workload = "as-published" is for scenarios without [eviction], whose policies '
                "always get the same jobs; remove it"
            )
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
    def level(self) -> float:
        """The confidence level of intervals, in (0, 1)."""
        return self.confidence / 100

    @property
    def has_unequal_jobs(self) -> bool:
        """Whether policies get different jobs: some have those of high priority, others not."""
        if self.workload == "same" or not self.high_priority.decides_lengths:
            return False
        return len({dispatch_policy(each).uses_priority for each in self.policies}) > 1

    @property
    def counts_priorities(self) -> bool:
        """Whether models without eviction count jobs of high priority; those with it always do."""
        return counts_priorities(self.high_priority, self.workload)

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
                speeds=self.speeds,
                horizon=self.ticks if self.measures_busy_time else None,
            )
            for policy, arrivals, lengths, app_masters in itertools.product(
                self.policies, self.arrivals, self.lengths, self.app_masters
            )
        )

    def _configuration(self, **common: Any) -> ClusterConfiguration:
        if self.eviction is not None:
            return NatjamConfiguration(**common, eviction=self.eviction)
        return Configuration(**common, workload=self.workload)

    @classmethod
    def tables_of(cls, values: Mapping[str, object]) -> Mapping[FieldPath, type[BaseModel]]:
        """Give the patterns of a file: which keys one has depends on which pattern it is."""
        found: dict[FieldPath, type[BaseModel]] = {}
        for name, patterns in (("arrivals", ARRIVAL_PATTERNS), ("lengths", LENGTH_PATTERNS)):
            entries = values.get(name)
            for position, entry in enumerate(entries if isinstance(entries, list | tuple) else ()):
                pattern = entry.get("pattern") if isinstance(entry, dict) else None
                if isinstance(pattern, str) and pattern in patterns:
                    found[name, position] = patterns[pattern]
        return found
