"""Jobs of a SWIM trace: what it says of bytes becomes splits, reduces and ratios."""

from __future__ import annotations

from dataclasses import replace

from rebecsim.clusters.mapreduce.job import MEBIBYTE, JobCosts, MapReduceJob
from rebecsim.clusters.mapreduce.workloads.arrivals import SECOND
from rebecsim.clusters.mapreduce.workloads.families import BLOCK, splits_of
from rebecsim.workloads.containers.swim import SwimJob

_FAMILIES = ((1, "1 map"), (10, "2-10 maps"), (100, "11-100 maps"), (1000, "101-1000 maps"))
_LARGEST = "over 1000 maps"


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
