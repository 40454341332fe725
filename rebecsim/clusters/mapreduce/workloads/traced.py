"""Jobs of traces: bytes become splits, reduces and ratios."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from rebecsim.clusters.mapreduce.configuration import HadoopSettings
from rebecsim.clusters.mapreduce.job import MEBIBYTE, JobCosts, JobPriority, MapReduceJob
from rebecsim.clusters.mapreduce.tasks.phases import (
    Rates,
    ReduceFactors,
    TaskStep,
    map_only_steps,
    map_steps,
    reduce_steps,
)
from rebecsim.clusters.mapreduce.workloads.arrivals import SECOND
from rebecsim.clusters.mapreduce.workloads.families import BLOCK, splits_of
from rebecsim.workloads.hadoop_history import HistoryJob
from rebecsim.workloads.swim import SwimJob

_FAMILIES = ((1, "1 map"), (10, "2-10 maps"), (100, "11-100 maps"), (1000, "101-1000 maps"))
_LARGEST = "over 1000 maps"
_MILLISECOND = 1000  # microseconds
_EXACT = ReduceFactors(1.0, 1.0, 1.0, 1.0, 1.0)


def family_of(maps: int) -> str:
    """Name the family of a job that is known by its size alone."""
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
    """Give the job of a line; its ratios are those of its bytes.

    Args:
        job: the line.
        number: of the job.
        owner: user and queue.
        costs: of processors; the trace says nothing of them.
        block: bytes that a map reads.
        reducer: bytes that a reduce gets, at most.
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
    """Give a job of a history; its ratios are those of its bytes, its user and queue its own.

    Args:
        job: as the history has it.
        number: of the job.
        costs: of processors; None: those that make a map and a reduce take as long as in the
            history, on average, when they are alone on a node and fetch nothing.
        rates: of the devices of the nodes.
        block: bytes that a map reads of which the history does not say.
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
        submit=job.submit * _MILLISECOND,
        splits=splits,
        reduces=job.reduces,
        costs=replace(costs, map_ratio=ratios.map_ratio, reduce_ratio=ratios.reduce_ratio),
        priority=JobPriority[job.priority.upper()],
    )


def _fitted(job: HistoryJob, splits: Sequence[int], ratios: JobCosts, rates: Rates) -> JobCosts:
    """Let the functions take of a processor what disks leave of the times in the history."""
    of_disks = fmean(_alone(_steps(job, split, ratios, rates), rates) for split in splits)
    of_maps = max(job.map_time * _MILLISECOND - of_disks, 0.0) * rates.cycles
    fetched = job.shuffle / job.reduces if job.reduces else 0.0
    of_disks = _alone(reduce_steps(fetched, ratios, rates, _EXACT), rates)
    of_reduces = max(job.reduce_time * _MILLISECOND - of_disks, 0.0) * rates.cycles
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
    return map_steps(split, ratios, HadoopSettings().sort_buffer, True, rates, lambda: 1.0)


def _alone(steps: Sequence[TaskStep], rates: Rates) -> float:
    return sum(rates.alone(step) for step in steps)
