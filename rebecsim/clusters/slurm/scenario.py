"""Scenarios of the kind `slurm`: which configurations to compare on a log.

A small one is

    kind = "slurm"
    name = "window"
    log = "sacct.txt"
    confs = ["slurm.conf", "changed.conf"]

Paths start from the folder of the scenario file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from rebecsim.clusters.slurm.results import SLURM_MEASURES
from rebecsim.studies.scenario import (
    NO_UNIT,
    AnyList,
    LoadFactors,
    MetricNames,
    StudyScenario,
    Table,
    Unique,
    among,
    unit,
    within,
)

MAX_CELLS = 10_000
"""Most runs of one scenario."""

_METRICS = [each.metric.name for each in SLURM_MEASURES]

_Factor = Annotated[float, Field(gt=0, le=1000)]


class Settings(Table):
    """Settings of slurm.conf that take the place of those of the file; each may be swept."""

    sched_interval: Annotated[int | None, within(1, 86_400, "seconds")] = Field(
        None, description="between two full passes of the main scheduler"
    )
    default_queue_depth: Annotated[int | None, within(1, 10**6, "jobs")] = Field(
        None, description="how many jobs a pass that is no full one tries"
    )
    bf_interval: Annotated[int | None, within(1, 10_800, "seconds")] = Field(
        None, description="between two cycles of backfill"
    )
    bf_window: Annotated[int | None, within(1, 43_200, "minutes")] = Field(
        None, description="how far ahead backfill reserves"
    )
    bf_resolution: Annotated[int | None, within(1, 3600, "seconds")] = Field(
        None, description="steps in which it reserves"
    )
    bf_max_job_test: Annotated[int | None, within(1, 10**6, "jobs")] = Field(
        None, description="how many jobs a cycle tries"
    )
    bf_max_job_user: Annotated[int | None, within(0, 10**6, "jobs")] = Field(
        None, description="how many of one user; 0: any number"
    )
    weight_age: Annotated[int | None, Field(ge=0, le=2**31)] = Field(
        None, json_schema_extra=NO_UNIT, description="PriorityWeightAge"
    )
    weight_fairshare: Annotated[int | None, Field(ge=0, le=2**31)] = Field(
        None, json_schema_extra=NO_UNIT, description="PriorityWeightFairshare"
    )
    weight_job_size: Annotated[int | None, Field(ge=0, le=2**31)] = Field(
        None, json_schema_extra=NO_UNIT, description="PriorityWeightJobSize"
    )
    weight_partition: Annotated[int | None, Field(ge=0, le=2**31)] = Field(
        None, json_schema_extra=NO_UNIT, description="PriorityWeightPartition"
    )
    weight_qos: Annotated[int | None, Field(ge=0, le=2**31)] = Field(
        None, json_schema_extra=NO_UNIT, description="PriorityWeightQOS"
    )
    max_age: Annotated[int | None, within(1, 525_600, "minutes")] = Field(
        None, description="PriorityMaxAge"
    )
    decay_half_life: Annotated[int | None, within(0, 525_600, "minutes")] = Field(
        None, description="PriorityDecayHalfLife"
    )
    lines: str = Field(
        "",
        description="lines as in slurm.conf, read after those of the file; the last one counts",
    )


class SlurmScenario(StudyScenario):
    """A comparison of configurations of Slurm on a log, as read from a scenario file."""

    fixed: ClassVar[frozenset[str]] = frozenset({"by"})

    kind: Literal["slurm"] = Field("slurm", description="the kind of cluster")
    replications: Annotated[int, within(1, 10_000, "runs")] = Field(
        1, description="how often what is random is drawn: run times, arrivals"
    )
    log: str = Field(
        min_length=1,
        description="what `sacct -a -X -D -P -o ALL` printed, or a log in SWF, CSV or of PBS; "
        "also .gz",
    )
    confs: Annotated[tuple[str, ...], AnyList, Unique] = Field(
        min_length=1, description="each a slurm.conf, the present one first"
    )
    gres: str | None = Field(None, description="gres.conf, if it is not beside slurm.conf")
    topology: str | None = Field(None, description="topology.conf, if it is not beside slurm.conf")
    accounts: str | None = Field(None, description="what `sacctmgr dump` wrote")
    qos: str | None = Field(None, description="what `sacctmgr -P show qos` printed")
    shares: str | None = Field(None, description="what `sshare -al -P` printed when the log begins")
    reservations: str | None = Field(None, description="what `scontrol show res -o` printed")
    settings: Settings = Field(Settings(), description="settings instead of those of the files")
    load_factors: LoadFactors = (1.0,)
    run_time_errors: Annotated[tuple[_Factor, ...], AnyList, Unique] = Field(
        (),
        json_schema_extra=unit("times the run time"),
        description="run times that are longer or shorter by a random factor, up to so much",
    )
    by: Literal["user", "account", "partition", "qos"] = Field(
        "user", description="what the answer tells jobs apart by"
    )
    metrics: Annotated[MetricNames, among(_METRICS)] = ()

    @property
    def policies(self) -> tuple[str, ...]:
        """What is compared: the configurations."""
        return self.confs

    @property
    def compared_with(self) -> str:
        """The configuration that the others are compared with."""
        return self.confs[0]

    @classmethod
    def is_like(cls, values: Mapping[str, Any]) -> bool:
        """Whether a file without a kind has configurations of Slurm."""
        return "confs" in values

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.replications > 1 and not self.run_time_errors:
            raise ValueError(
                "the scenario has no randomness, so all replications are equal; remove replications"
            )
        cells = len(self.confs) * len(self.load_factors) * max(len(self.run_time_errors), 1)
        if cells * self.replications > MAX_CELLS:
            raise ValueError(f"{cells} runs, at most {MAX_CELLS} are allowed; shorten a list")
        return self
