"""What a file of queues must leave to every job: a queue, and containers that it may have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rebecsim.clusters.yarn.configuration import YarnConfiguration
from rebecsim.clusters.yarn.containers import NodeSize
from rebecsim.clusters.yarn.queue_files.capacity_settings import CapacityQueue, CapacitySettings
from rebecsim.clusters.yarn.queue_files.fair_settings import FairSettings
from rebecsim.clusters.yarn.queue_files.resources import DOMINANT, MEMORY, NONE, Resources, total_of
from rebecsim.clusters.yarn.queues.capacity.effective import Effective, effective
from rebecsim.errors import UserError
from rebecsim.workloads.container_jobs import ContainerJob


def require_queues(
    jobs: Sequence[ContainerJob], sizes: Sequence[NodeSize], configuration: YarnConfiguration
) -> None:
    """Raise UserError for jobs that name no queue of the file, or could never run in theirs."""
    settings = configuration.queues
    assert settings is not None
    if isinstance(settings, FairSettings):
        _require_fair(jobs, settings, total_of(totals_of(sizes, labels=False).values()))
        return
    totals = totals_of(sizes)
    for job in jobs:
        queue = settings.leaf(job.queue)
        if queue is None:
            raise UserError(
                f"{_where(job)} is for the queue {job.queue}, and {settings.file} has no such leaf"
                f"{_alike(settings, job.queue)}. Rename it in the trace, or add it to the file"
            )
        _require_containers(job, queue, settings, sizes, totals)


def _require_fair(jobs: Sequence[ContainerJob], settings: FairSettings, total: Resources) -> None:
    """Raise UserError for jobs that ask for more than their queues may have."""
    for job in jobs:
        if job.label:
            raise UserError(
                f"{_where(job)} asks for the label {job.label}, and the Fair Scheduler has none"
            )
        queue = settings.queue_for(job)
        if queue is None:
            continue  # it is refused
        inside = f"{queue.path}."
        above = [each for each in settings.root.below() if inside.startswith(f"{each.path}.")]
        for what, asked in _asked(job):
            for limit, whose in (
                (settings.allocations.maximum, "the cluster"),
                (queue.largest, queue.path),
            ):
                if limit is not None and not asked.within(limit):
                    raise UserError(
                        f"{_where(job)}, {what} asks for {_text(asked)}; the maximum allocation of "
                        f"{whose} in {settings.file} is {_text(limit)}"
                    )
            for each in (queue, *above):
                most = each.maximum_of(total)
                if not asked.within(most):
                    raise UserError(
                        f"{_where(job)}, {what} asks for {_text(asked)}, and the queue {each.path} "
                        f"of {settings.file} may have {_text(most)} at most"
                    )
            if any(each.most_running == 0 for each in (queue, *above)):
                raise UserError(
                    f"{_where(job)} is for {queue.path} of {settings.file}, where no application "
                    "may run (maxRunningApps 0)"
                )


def totals_of(sizes: Sequence[NodeSize], *, labels: bool = True) -> dict[str, Resources]:
    """Give what the nodes of each label have. Raises UserError for nodes of several labels."""
    found: dict[str, Resources] = {"": NONE}
    for size in sizes:
        if labels and len(size.labels) > 1:
            names = ", ".join(each.name for each in size.labels)
            raise UserError(f"node {size.name}: in YARN a node has one label, not {names}")
        label = size.labels[0].name if size.labels else ""
        found[label] = found.get(label, NONE).plus(Resources(size.memory, size.cores))
    return found


def _require_containers(
    job: ContainerJob,
    queue: CapacityQueue,
    settings: CapacitySettings,
    sizes: Sequence[NodeSize],
    totals: dict[str, Resources],
) -> None:
    label = job.label or queue.default_label
    if not queue.may_use(label):
        raise UserError(
            f"{_where(job)} asks for nodes with the label {label}, and {queue.path} of "
            f"{settings.file} may not use them"
        )
    if label not in totals:
        raise UserError(f"{_where(job)} asks for nodes with the label {label}, and there are none")
    calculator = DOMINANT if settings.dominant else MEMORY
    lending = {label: totals[label]}
    if not label:
        lending |= {
            size.labels[0].name: totals[size.labels[0].name]
            for size in sizes
            if size.labels and not size.labels[0].exclusive
        }
    limits = {each: _limits(settings, queue, each, total) for each, total in lending.items()}
    own = limits[label]
    for what, asked in _asked(job):
        most = settings.allocations.maximum
        for limit, whose in ((most, "the cluster"), (queue.largest, queue.path)):
            if limit is not None and not calculator.fits(asked, limit):
                raise UserError(
                    f"{_where(job)}, {what} asks for {_text(asked)}; the maximum allocation of "
                    f"{whose} in {settings.file} is {_text(limit)}"
                )
        if not calculator.fits(asked, own.maximum) and (what == _MASTER or len(lending) == 1):
            raise UserError(
                f"{_where(job)}, {what} asks for {_text(asked)}, and the queue {queue.path} of "
                f"{settings.file} may have {_text(own.maximum)} at most"
            )


def _limits(
    settings: CapacitySettings, queue: CapacityQueue, label: str, total: Resources
) -> Effective:
    return effective(settings.root, label, total, legacy=settings.legacy)[queue.path]


_MASTER = "its AppMaster"


def _asked(job: ContainerJob) -> Iterator[tuple[str, Resources]]:
    yield _MASTER, Resources(job.master_memory or 0, job.master_cores or 0)
    for place, each in enumerate(job.classes, start=1):
        yield f"task {place}", Resources(each.memory, each.cores)


def _text(some: Resources) -> str:
    cores = "" if some.cores >= 2**60 else f" and {some.cores} cores"
    return f"{some.memory} MB{cores}"


def _where(job: ContainerJob) -> str:
    return f"{job.source}: {job.name}" if job.source else job.name


def _alike(settings: CapacitySettings, name: str) -> str:
    leaves = [queue.path for queue in settings.root.below() if not queue.children]
    return f"; it has {', '.join(leaves[:10])}{', ...' if len(leaves) > 10 else ''}"
