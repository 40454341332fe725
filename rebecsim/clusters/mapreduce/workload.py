"""The jobs of a scenario, of all its sources together: mixes, families, and traces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from statistics import fmean

import numpy as np

from rebecsim.clusters.mapreduce.attempts import (
    Rates,
    ReduceFactors,
    TaskStep,
    map_only_steps,
    map_steps,
    reduce_steps,
)
from rebecsim.clusters.mapreduce.configuration import ClusterTable
from rebecsim.clusters.mapreduce.job import (
    MEBIBYTE,
    MILLISECOND,
    SECOND,
    JobCosts,
    JobPriority,
    MapReduceJob,
)
from rebecsim.clusters.mapreduce.job_families import (
    BENCHMARKS,
    BLOCK,
    drawn_jobs,
    mix_jobs,
    splits_of,
)
from rebecsim.clusters.mapreduce.workload_tables import (
    DrawnTable,
    JobsTable,
    MapReduceWorkload,
    MixTable,
    RumenTable,
    SwimTable,
)
from rebecsim.files import TASKS
from rebecsim.processes import carried, version_of
from rebecsim.studies.study import seed_sequence
from rebecsim.workloads.hadoop_history import HistoryJob, read_history
from rebecsim.workloads.swim import SwimJob, read_swim_jobs

_FAMILIES = ((1, "1 map"), (10, "2-10 maps"), (100, "11-100 maps"), (1000, "101-1000 maps"))
_LARGEST = "over 1000 maps"
_EXACT = ReduceFactors(1.0, 1.0, 1.0, 1.0, 1.0)


def family_of(maps: int) -> str:
    """Return the family of a job by its size."""
    return next((name for most, name in _FAMILIES if maps <= most), _LARGEST)


def swim_job(
    job: SwimJob,
    number: int,
    owner: tuple[str, str],
    costs: JobCosts,
    *,
    block: int = BLOCK,
    reducer: int = 1024 * MEBIBYTE,
) -> MapReduceJob:
    """Make the job of a line, with the ratios of its bytes.

    Args:
        job: the line.
        number: number of the job.
        owner: user and queue.
        costs: processor costs, which the trace lacks.
        block: input bytes of a map.
        reducer: largest input of a reduce (bytes).
    """
    splits = splits_of(job.map_input, block)
    read = sum(splits)
    moved = job.shuffle or job.output  # without reduces, maps write the output
    ratio = job.output / job.shuffle if job.shuffle else 1.0
    user, queue = owner
    return MapReduceJob(
        number=number,
        family=family_of(len(splits)),
        user=user,
        queue=queue,
        submit=job.submit * SECOND,
        splits=splits,
        reduces=-(-job.shuffle // reducer),
        costs=replace(costs, map_ratio=moved / read, reduce_ratio=ratio),
    )


def history_job(
    job: HistoryJob, number: int, costs: JobCosts | None, rates: Rates, *, block: int = BLOCK
) -> MapReduceJob:
    """Make a job of a history, with its own user, queue and ratios of bytes.

    Args:
        job: the job in the history.
        number: number of the job.
        costs: processor costs; None to fit them, so that a map and a reduce alone on a node,
            without fetches, take as long as in the history on average.
        rates: rates of the nodes' devices.
        block: input bytes of a map, if the history lacks them.
    """
    splits = tuple(max(block if size is None else size, 1) for size in job.inputs)
    moved = job.shuffle if job.reduces else job.output
    ratios = JobCosts(
        start=0.0,
        map=0.0,
        map_ratio=moved / sum(splits),
        sort=0.0,
        merge=0.0,
        reduce_sort=0.0,
        reduce=0.0,
        reduce_ratio=job.output / job.shuffle if job.reduces and job.shuffle else 1.0,
    )
    if costs is None:
        costs = _fitted(job, splits, ratios, rates)
    return MapReduceJob(
        number=number,
        family=family_of(len(splits)),
        user=job.user,
        queue=job.queue,
        submit=job.submit * MILLISECOND,
        splits=splits,
        reduces=job.reduces,
        costs=replace(costs, map_ratio=ratios.map_ratio, reduce_ratio=ratios.reduce_ratio),
        priority=JobPriority[job.priority.upper()],
    )


def _fitted(job: HistoryJob, splits: Sequence[int], ratios: JobCosts, rates: Rates) -> JobCosts:
    """Fit processor costs to the times of a history, less the time of disks."""
    of_disks = fmean(_alone(_steps(job, split, ratios, rates), rates) for split in splits)
    of_maps = max(job.map_time * MILLISECOND - of_disks, 0.0) * rates.cycles
    fetched = job.shuffle / job.reduces if job.reduces else 0.0
    of_disks = _alone(reduce_steps(fetched, ratios, rates, _EXACT), rates)
    of_reduces = max(job.reduce_time * MILLISECOND - of_disks, 0.0) * rates.cycles
    return replace(
        ratios,
        map=of_maps / fmean(splits),
        reduce=of_reduces / fetched if fetched else 0.0,
        reduce_sort=0.0 if fetched else of_reduces,
    )


def _steps(job: HistoryJob, split: int, ratios: JobCosts, rates: Rates) -> list[TaskStep]:
    """List what a map does beside its function, with its split on its own node."""
    if not job.reduces:
        return map_only_steps(split, ratios, True, rates, lambda: 1.0)
    return map_steps(split, ratios, ClusterTable().sort_buffer * MEBIBYTE, True, rates, lambda: 1.0)


def _alone(steps: Sequence[TaskStep], rates: Rates) -> float:
    return sum(rates.alone(step) for step in steps)


def workload_jobs(
    workload: MapReduceWorkload, folder: Path, seed: int, replication: int, rates: Rates
) -> tuple[MapReduceJob, ...]:
    """Give the jobs by the times of their submission, numbered in this order.

    The scheduler has no part in them: all see the same (common random numbers). Each source draws
    from a stream of its own. `rates` are of the nodes; times of a history are fitted to them.
    Raises WorkloadError and OSError for a trace.
    """
    traces = {name: carried(folder / trace) for name, trace in workload.traces.items()}
    versions = tuple((name, path, version_of(path)) for name, path in traces.items())
    drawn = replication if workload.is_random else 0
    return _loaded(workload, versions, seed, drawn, rates)


@lru_cache(maxsize=8)  # cells of one replication have the same jobs
def _loaded(
    workload: MapReduceWorkload,
    versions: tuple[tuple[str, Path, object], ...],
    seed: int,
    replication: int,
    rates: Rates,
) -> tuple[MapReduceJob, ...]:
    def draws(*names: object) -> np.random.Generator:
        name = " ".join(["workload", *map(str, names)])
        return np.random.default_rng(seed_sequence(seed, name, replication))

    block = workload.block * MEBIBYTE
    traces = {name: path for name, path, _ in versions}
    found: list[MapReduceJob] = []
    if workload.mix is not None:
        found += _of_mix(workload.mix, block)
    last: dict[str, int] = {}  # job of each user, as a place in what is found
    for place, table in enumerate(workload.jobs):
        for job in _of_sizes(table, block, f"jobs{place}", draws("jobs", place)):
            if table.arrivals.law == "after":
                before = last.get(job.user)
                first = round(table.arrivals.first * SECOND)
                job = replace(job, submit=first) if before is None else replace(job, after=before)
            last[job.user] = len(found)
            found.append(job)
    if workload.drawn is not None:
        found += _of_families(workload.drawn, block, draws("drawn"))
    if workload.swim is not None:
        found += _of_trace(workload.swim, traces["swim"], block, draws("swim"))
    if workload.rumen is not None:
        found += _of_history(workload.rumen, traces["rumen"], block, rates)
    return _numbered(found)


def _numbered(jobs: Sequence[MapReduceJob]) -> tuple[MapReduceJob, ...]:
    """Number jobs by the times of their submission; sources keep their order.

    A job that comes after another one stands behind it, as if submitted with it. What it comes
    after is a place among the jobs that are given, and then a number.
    """
    times: list[int] = []
    for job in jobs:
        times.append(job.submit if job.after is None else times[job.after])
    order = sorted(range(len(jobs)), key=times.__getitem__)
    numbers = {place: number for number, place in enumerate(order)}
    return tuple(
        replace(
            jobs[place],
            number=number,
            after=None if (before := jobs[place].after) is None else numbers[before],
        )
        for number, place in enumerate(order)
    )


def _of_mix(table: MixTable, block: int) -> Iterator[MapReduceJob]:
    jobs = mix_jobs(
        table.pattern,
        table.queues,
        table.small_queues,
        gap=table.gap,
        rounds=table.rounds,
        block=block,
    )
    yield from (replace(job, user=f"mix_{job.user}") for job in jobs)


def _of_sizes(
    table: JobsTable, block: int, source: str, draws: np.random.Generator
) -> Iterator[MapReduceJob]:
    splits = (
        (block,) * table.maps
        if table.maps is not None
        else splits_of(round((table.input or 0) * MEBIBYTE), block)
    )
    costs = table.costs.costs(table.program)
    for number, submit in enumerate(table.arrivals.times(table.count, draws)):
        yield MapReduceJob(
            number=number,
            family=table.shown_family,
            user=table.user or f"{source}_user{number}",
            queue=table.queue,
            submit=submit,
            splits=splits,
            reduces=table.reduces,
            costs=costs,
            priority=table.level,
        )


def _of_families(
    table: DrawnTable, block: int, draws: np.random.Generator
) -> Iterator[MapReduceJob]:
    drawn = drawn_jobs(table.jobs, table.families, draws)
    owners = _owners(table.users, table.queues, len(drawn), draws)
    times = table.arrivals.times(len(drawn), draws)
    for number, (job, (user, queue), submit) in enumerate(zip(drawn, owners, times, strict=True)):
        yield MapReduceJob(
            number, job.family, user, queue, submit, (block,) * job.maps, job.reduces, job.costs
        )


def _of_trace(
    table: SwimTable, trace: Path, block: int, draws: np.random.Generator
) -> Iterator[MapReduceJob]:
    lines = read_swim_jobs(trace)[: table.first]
    costs = JobCosts() if table.program is None else BENCHMARKS[table.program]
    owners = _owners(table.users, table.queues, len(lines), draws)
    TASKS.require(sum(-(-line.map_input // block) for line in lines), trace)
    for number, (line, owner) in enumerate(zip(lines, owners, strict=True)):
        job = swim_job(line, number, owner, costs, block=block, reducer=table.reducer * MEBIBYTE)
        yield replace(job, submit=round(job.submit / table.speed))


def _of_history(table: RumenTable, trace: Path, block: int, rates: Rates) -> Iterator[MapReduceJob]:
    lines = sorted(read_history(trace), key=lambda line: line.submit)[: table.first]
    costs = None if table.program is None else BENCHMARKS[table.program]
    for number, line in enumerate(lines):
        job = history_job(line, number, costs, rates, block=block)
        yield replace(job, submit=round(job.submit / table.speed))


def _owners(
    users: int, queues: Sequence[str], jobs: int, draws: np.random.Generator
) -> list[tuple[str, str]]:
    """Draw user and queue of each job; all are equally likely."""
    of_users = draws.integers(users, size=jobs).tolist()
    of_queues = draws.integers(len(queues), size=jobs).tolist()
    return [(f"user{user}", queues[queue]) for user, queue in zip(of_users, of_queues, strict=True)]
