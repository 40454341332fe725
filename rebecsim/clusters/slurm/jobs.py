"""A job as it was submitted: who asks for what, and how long it will run.

What a job asks for is a `Request`, which jobs that ask for the same share: the scheduler tries each
request once and not each job. Readers must therefore give equal requests as one object.

Times are seconds, memory is MB; `None` is what the user did not say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from rebecsim.actors import Constant

Amounts = tuple[tuple[str, int], ...]
"""How much of what: `(("gpu", 2),)`, `(("gpu:a100", 1),)`, `(("matlab", 1),)`; sorted by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request(Constant):
    """What a job asks for.

    Attributes:
        min_nodes: fewest nodes; 1 if the user named none.
        max_nodes: the most that are wanted, as in `-N 2-4`, or 2 in `-N 2`; None: any number.
        tasks: `-n`; None: one a node.
        cpus_per_task: `-c`; None: one.
        tasks_per_node: `--ntasks-per-node`.
        tasks_per_core: `--ntasks-per-core`.
        memory_per_node, memory_per_cpu, memory_per_gpu: MB; 0 per node asks for all memory.
        gres_per_node: `--gres` and `--gpus-per-node`.
        gres: of the whole job, as `--gpus`.
        gres_per_task: as `--gpus-per-task`.
        licenses: names and counts.
        features: the text of `--constraint`.
        prefer: the text of `--prefer`.
        required, excluded: names of nodes, `-w` and `-x`.
        exclusive: `--exclusive`; `user` is `--exclusive=user`.
        oversubscribe: `--oversubscribe`.
        contiguous, spread: `--contiguous` and `--spread-job`.
        switches: `--switches=K`, and `switch_wait` its `@T`, seconds.
        reservation: name; empty: none.
    """

    min_nodes: int = 1
    max_nodes: int | None = None
    tasks: int | None = None
    cpus_per_task: int | None = None
    tasks_per_node: int | None = None
    tasks_per_core: int | None = None
    memory_per_node: int | None = None
    memory_per_cpu: int | None = None
    memory_per_gpu: int | None = None
    gres_per_node: Amounts = ()
    gres: Amounts = ()
    gres_per_task: Amounts = ()
    licenses: Amounts = ()
    features: str = ""
    prefer: str = ""
    required: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    exclusive: Literal["", "node", "user"] = ""
    oversubscribe: bool = False
    contiguous: bool = False
    spread: bool = False
    switches: int | None = None
    switch_wait: int | None = None
    reservation: str = ""

    @property
    def least_cpus(self) -> int:
        """How many CPUs it asks for at least."""
        per_task = self.cpus_per_task or 1
        if self.tasks is not None:
            return max(self.tasks * per_task, self.min_nodes)
        return self.min_nodes * (self.tasks_per_node or 1) * per_task


class ArrayTask(NamedTuple):
    """Which task of which array a job is, and how many of it may run at once (None: all)."""

    array: int
    task: int
    at_once: int | None = None


class HetPart(NamedTuple):
    """Which component, from 0, of which heterogeneous job a job is, by the number of the first."""

    job: int
    offset: int


DependencyType = Literal[
    "after", "afterany", "afterok", "afternotok", "aftercorr", "singleton", "afterburstbuffer"
]


class Dependency(NamedTuple):
    """What a job waits for: another job, or all tasks of an array, by number; 0 for singleton.

    Attributes:
        delay: of `after:id+minutes`, seconds.
    """

    type: DependencyType
    job: int = 0
    delay: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Extras:
    """What few jobs have.

    Attributes:
        array: its array.
        het: its heterogeneous job.
        dependencies: all of them must hold, or `any_dependency` one.
        deadline: when it must have ended, seconds.
        withdrawn: when its user cancels it if it still waits, seconds; None: never.
        fails: whether it ends badly, for afterok and afternotok.
        held: whether it is submitted held; `released` is when that ends, seconds (None: never).
        requeues: `--requeue` and `--no-requeue`; None: as the cluster.
        min_time: `--time-min`, seconds.
        priority: set by an administrator; None: it is computed.
        site_factor: added to the priority.
        running_since: it already runs on `nodes` when the run begins, seconds.
        nodes: names, with `running_since`.
    """

    array: ArrayTask | None = None
    het: HetPart | None = None
    dependencies: tuple[Dependency, ...] = ()
    any_dependency: bool = False
    deadline: int | None = None
    withdrawn: int | None = None
    fails: bool = False
    held: bool = False
    released: int | None = None
    requeues: bool | None = None
    min_time: int | None = None
    priority: int | None = None
    site_factor: int = 0
    running_since: int | None = None
    nodes: tuple[str, ...] = ()


NO_EXTRAS = Extras()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Job(Constant):
    """A job as submitted.

    Attributes:
        number: its number; those of an array have one each.
        user, account: names.
        partitions: names, in the order of `-p`; empty: the default one.
        qos: name; empty: the default one.
        submit: when it is submitted, seconds.
        run: how long it runs if nothing ends it, seconds; may be longer than its limit.
        limit: its time limit, seconds; None: the partition's.
        request: what it asks for.
        begin: it does not start before, seconds; 0: at once.
        nice: lowers its priority.
        name: for singleton.
        batch: whether it was submitted with sbatch, and not with salloc or srun.
        extras: what few jobs have.
    """

    number: int
    user: str = ""
    account: str = ""
    partitions: tuple[str, ...] = ()
    qos: str = ""
    submit: int = 0
    run: int = 0
    limit: int | None = None
    request: Request
    begin: int = 0
    nice: int = 0
    name: str = ""
    batch: bool = True
    extras: Extras = NO_EXTRAS

    def __str__(self) -> str:
        return f"job {self.number}"


_ANY = 10**9


def gres_tasks(request: Request, most_nodes: int | None) -> int:
    """Give the most tasks on a node of a job with generic resources."""
    if request.tasks_per_node:
        return request.tasks_per_node
    if request.tasks and most_nodes == 1:
        return request.tasks
    if request.tasks == 1 or request.tasks == request.min_nodes == most_nodes:
        return 1
    return _ANY


def times_of(amounts: Amounts, count: int) -> Amounts:
    """Give so many times as much."""
    return tuple((name, each * count) for name, each in amounts)


def gpus_of(amounts: Amounts) -> int:
    """Give how many GPUs there are among generic resources."""
    return sum(count for name, count in amounts if name.split(":")[0] == "gpu")
