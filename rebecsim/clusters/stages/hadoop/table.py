"""The table of a scenario that says how Hadoop runs tasks. Times are seconds."""

from __future__ import annotations

from pydantic import Field

from rebecsim.clusters.stages.hadoop.settings import HadoopSettings
from rebecsim.clusters.stages.job import SECOND
from rebecsim.studies.scenario import Table
from rebecsim.studies.units import NO_UNIT, unit


class HadoopTable(Table):
    """Hadoop 1 instead of resources that run what is planned at its time."""

    heartbeat: float = Field(
        default=3.0,
        ge=0.001,
        le=10**4,
        json_schema_extra=unit("seconds"),
        description="how often a TaskTracker says what has ended and asks for tasks",
    )
    overhead: float = Field(
        default=12.0,
        ge=0,
        le=10**6,
        json_schema_extra=unit("seconds"),
        description="how much longer a task takes",
    )
    transfer: float = Field(
        default=5.0,
        ge=0,
        le=10**6,
        json_schema_extra=unit("seconds"),
        description="how much longer a map takes without its data",
    )
    replicas: int = Field(
        default=3,
        ge=1,
        le=10**5,
        json_schema_extra=NO_UNIT,
        description="how many resources have what a map reads",
    )
    job_task: float = Field(
        default=5.0,
        ge=0,
        le=10**6,
        json_schema_extra=unit("seconds"),
        description="how long the task takes that sets a job up, and that which cleans up behind "
        "it; 0: jobs have none",
    )
    slow_start: float = Field(
        default=0.05,
        ge=0,
        le=1,
        json_schema_extra=NO_UNIT,
        description="with EDF and FIFO, the part of its maps after which a job's reduces take "
        "slots; plans let them wait for all maps",
    )

    @property
    def settings(self) -> HadoopSettings:
        """What the cluster is told."""
        return HadoopSettings(
            heartbeat=round(self.heartbeat * SECOND),
            overhead=round(self.overhead * SECOND),
            transfer=round(self.transfer * SECOND),
            replicas=self.replicas,
            job_task=round(self.job_task * SECOND),
            slow_start=self.slow_start,
        )
