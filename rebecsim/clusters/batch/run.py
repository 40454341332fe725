"""Run a workload on a cluster under a policy, with estimated run times; how large a run is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Literal, TypeAlias, get_args, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rebecsim.actors import Constant
from rebecsim.clusters.batch.machine import Job, Machine, Pool
from rebecsim.clusters.batch.policies.orders import PolicySettings
from rebecsim.clusters.batch.policies.policy import BatchPolicy, batch_policies, batch_policy
from rebecsim.clusters.batch.rebecs import MANAGER, ResourceManager, cluster_model
from rebecsim.clusters.kit.plugins import blaming
from rebecsim.clusters.kit.queued import NeverClosing, QueuedSystem, rarely_collecting, serve
from rebecsim.errors import UserError
from rebecsim.files import RunSize
from rebecsim.workloads import Schedule, Workload
from rebecsim.workloads.workload import Integers

_SECONDS_A_JOB = 2e-5
"""Measured with 8,000 jobs of Lublin and Feitelson's model under FCFS and EASY with fairshare."""

_BYTES_A_JOB = 1_000


def size_of_jobs(jobs: int) -> RunSize:
    """Estimate a schedule of so many jobs."""
    return RunSize(jobs, 0, jobs * _SECONDS_A_JOB, jobs * _BYTES_A_JOB)


NamedEstimates = Literal["requested", "exact"]
ESTIMATES: tuple[NamedEstimates, ...] = get_args(NamedEstimates)


@dataclass(frozen=True)
class InflatedEstimates:
    """Estimates that are too long by a random part, up to `factor` times the run time.

    The estimate is uniform among the whole seconds from r to (1 + factor) r (Mu'alem and
    Feitelson, IEEE TPDS 12(6), 2001, section 4, where the factor is called f). Factor 0 gives
    exact estimates.
    """

    factor: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.factor) and 0 <= self.factor <= 1e6):
            raise UserError(f"an estimate error of {self.factor}; give it from 0 to 1,000,000")


Estimates: TypeAlias = NamedEstimates | InflatedEstimates
"""`requested`: the time that the user asked for, else the run time; `exact`: the run time; or run
times with an error."""


def durations(workload: Workload) -> Integers:
    """Give how long each job runs, seconds: it is killed at the time that it has requested."""
    return np.minimum(workload.run, workload.estimate)


def estimates_of(workload: Workload, estimates: Estimates, seed: int) -> Integers:
    """Give the estimate of each job, seconds, never less than it runs; `seed` is for the error."""
    match estimates:
        case "requested":
            return workload.estimate
        case "exact":
            return durations(workload)
        case InflatedEstimates(factor):
            shortest = durations(workload)
            longest = np.floor(shortest * (1 + factor)).astype(np.int64)
            generator = np.random.default_rng(np.random.SeedSequence(seed))
            return generator.integers(shortest, longest, endpoint=True)
    raise UserError(f"no estimates {estimates!r}; known are {', '.join(ESTIMATES)}")


_SLICE = 4096  # jobs made from columns at a time


class JobStream(Constant, Sequence[Job]):
    """The jobs of a workload, made some at a time when they are asked for in their order.

    Attributes:
        workload: the jobs as columns.
        estimate: what the resource manager believes, shape (jobs,), seconds.
        demand: what a processor of each job takes of the machine's resources, shape
            (jobs, resources).
        chunk: processors of each job that must be on one node, shape (jobs,).
    """

    def __init__(
        self,
        workload: Workload,
        estimate: Integers,
        demand: NDArray[np.int64],
        chunk: Integers,
    ) -> None:
        self.workload, self.estimate, self.demand, self.chunk = workload, estimate, demand, chunk
        self._run = durations(workload)
        self._is_divisible = bool((chunk == 1).all())
        self._first = 0
        self._made: list[Job] = []

    def __len__(self) -> int:
        return len(self.workload)

    @overload
    def __getitem__(self, place: int) -> Job: ...
    @overload
    def __getitem__(self, place: slice) -> list[Job]: ...
    def __getitem__(self, place: int | slice) -> Job | list[Job]:
        if isinstance(place, int):
            return self[place : place + 1][0]
        first, last, _ = place.indices(len(self))
        if not self._first <= first <= last <= self._first + len(self._made):
            self._first = first
            self._made = self._jobs(slice(first, max(first + _SLICE, last)))
        return self._made[first - self._first : last - self._first]

    def _jobs(self, part: slice) -> list[Job]:
        workload = self.workload
        columns = (
            workload.job,
            workload.submit,
            self._run,
            workload.processors,
            self.estimate,
            workload.user,
            workload.group,
            workload.queue,
        )
        lists: list[Iterable[Any]] = [column[part].tolist() for column in columns]
        if self.demand.shape[1] or not self._is_divisible:
            lists += self.chunk[part].tolist(), map(tuple, self.demand[part].tolist())
        return list(map(Job, count(part.start), *lists))


def run_schedule(
    workload: Workload,
    machine: Machine[Any] | int | None = None,
    policy: BatchPolicy | str = "EASY",
    *,
    estimates: Estimates = "requested",
    settings: PolicySettings | None = None,
    demands: Mapping[str, ArrayLike] | None = None,
    chunk: ArrayLike | None = None,
    seed: int = 0,
    fair_starts: bool = False,
) -> Schedule:
    """Run a workload on a machine under a policy; give when each job ran.

    `machine` may be a number of pooled processors; None is the capacity of the workload. Jobs are
    killed at the time that they have requested. `seed` is for the error of the estimates, the
    only thing that is random.

    On a machine of nodes, `demands` says for its resources by name what each processor of a job
    takes, one number for all jobs or shape (jobs,); nothing of what is not named, but of `memory`
    what the workload requests. `chunk` says in the same shapes how many processors of a job must
    be on one node; a divisor of its processors, by default 1.

    With `fair_starts`, the schedule has the fair start of each job as well: when it would have
    started under the policy if no job had come after it. For that the run looks ahead from the
    submission of each job that has to wait.

    Raises UserError for a job that does not fit on the empty machine and for demands that do not
    fit the workload, UnknownNameError for the name of a policy, RuntimeError for a policy at fault,
    which leaves jobs waiting for ever, and PluginError if that comes from a plug-in.
    """
    if machine is None or isinstance(machine, int):
        machine = Pool(workload.capacity if machine is None else machine)
    if isinstance(policy, str):
        policy = batch_policy(policy)
    stream = JobStream(
        workload,
        estimates_of(workload, estimates, seed),
        _demand(workload, machine, demands or {}),
        _column(workload, "chunk", 1 if chunk is None else chunk),
    )
    _require_placeable(stream, machine)
    settings = settings or PolicySettings()
    model = cluster_model(stream, machine, policy, settings, fair_starts=fair_starts)
    with blaming(*batch_policies.suspects(policy.name)):
        system = QueuedSystem(model)
        with rarely_collecting():
            serve(system, NeverClosing())
        manager = system.rebec(MANAGER)
        assert isinstance(manager, ResourceManager)
        starts = np.array(manager.starts, dtype=np.int64)
        left = np.flatnonzero(starts < 0)
        if left.size:
            never = f"policy {policy.name} never starts {left.size} jobs"
            raise RuntimeError(f"{never}; one is {workload.job[left[0]]}")
    foresight = manager.foresight
    fair = None if foresight is None else np.array(foresight.starts, dtype=np.int64)
    return Schedule(workload, starts, durations(workload), policy.name, fair)


def _demand(
    workload: Workload, machine: Machine[Any], demands: Mapping[str, ArrayLike]
) -> NDArray[np.int64]:
    unknown = [name for name in demands if name not in machine.resources]
    if unknown:
        known = ", ".join(machine.resources) or "none"
        raise UserError(f"the machine has no resource {unknown[0]!r}; it has {known}")
    columns = []
    for name in machine.resources:
        given = demands.get(name)
        if given is None:
            given = np.maximum(workload.requested_memory, 0) if name == "memory" else 0
        columns.append(_column(workload, name, given))
    shape = (len(workload), len(machine.resources))
    return np.stack(columns, axis=1) if columns else np.empty(shape, dtype=np.int64)


def _column(workload: Workload, name: str, given: ArrayLike) -> Integers:
    values = np.asarray(given)
    if values.dtype.kind not in "iu" or values.shape not in ((), (len(workload),)):
        raise UserError(f"{name} should be a whole number, or one for each of the jobs")
    if (values < (1 if name == "chunk" else 0)).any():
        raise UserError(
            f"{name} is {values.min()} for some job; give at least {1 if name == 'chunk' else 0}"
        )
    return np.broadcast_to(values.astype(np.int64), (len(workload),))


def _require_placeable(stream: JobStream, machine: Machine[Any]) -> None:
    """Refuse a workload with a job that could never start; equal requests are tried once."""
    workload = stream.workload
    parts = np.flatnonzero(workload.processors % stream.chunk)
    if parts.size:
        job = parts[0]
        raise UserError(
            f"job {workload.job[job]} takes {workload.processors[job]} processors in chunks of "
            f"{stream.chunk[job]}; the chunk must divide the processors"
        )
    requests = np.column_stack([workload.processors, stream.chunk, stream.demand])
    for job in _first_of_each(requests):
        processors, chunk, *demand = requests[job].tolist()
        tried = Job(0, 0, 0, 1, processors, 1, chunk=chunk, demand=tuple(demand))
        if machine.place(tried, machine.empty) is None:
            raise UserError(
                f"job {workload.job[job]} takes {processors} processors"
                f"{_wishes(machine, tried)} and does not fit on the machine of "
                f"{machine.processors}; leave such jobs out of the workload"
            )


def _first_of_each(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give the places of rows of which no equal one comes before."""
    differing = rows[:, (rows != rows[:1]).any(axis=0)]
    if differing.shape[1] == 1:  # the order of numbers takes a tenth of that of rows
        return np.unique(differing[:, 0], return_index=True)[1]
    return np.unique(differing, axis=0, return_index=True)[1]


def _wishes(machine: Machine[Any], job: Job) -> str:
    named = zip(machine.resources, job.demand, strict=True)
    each = [f"{amount} of {name} for each" for name, amount in named if amount]
    if job.chunk > 1:
        each.insert(0, f"{job.chunk} of them on a node")
    return "".join(f", {text}" for text in each)
