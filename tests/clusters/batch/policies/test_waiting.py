from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings, strategies as st

from rebecsim.clusters.batch.machine import Job
from rebecsim.clusters.batch.policies.backfilling import WaitingQueue


def job_of(index: int, key: int) -> Job:
    return Job(index, index, 0, 1 + key, 1 + index % 5, 1 + (index * 7) % 11)


@settings(max_examples=60)
@given(
    keys=st.lists(st.integers(0, 5), min_size=1, max_size=900),
    removals=st.randoms(use_true_random=False),
    share=st.floats(0, 1),
)
def test_it_is_a_sorted_list_with_bounds_per_block(
    keys: list[int], removals: Random, share: float
) -> None:
    queue = WaitingQueue()
    jobs = [job_of(index, key) for index, key in enumerate(keys)]
    for job, key in zip(jobs, keys, strict=True):
        queue.add(job, key)
    gone = set(removals.sample(range(len(jobs)), int(share * len(jobs))))
    for index in gone:
        queue.remove(jobs[index])
    left = [job for job in jobs if job.index not in gone]
    expected = sorted(left, key=lambda job: (keys[job.index], job.index))
    assert list(queue) == expected
    assert len(queue) == len(expected)
    assert bool(queue) == bool(expected)
    if expected:
        assert queue.head is expected[0]
    for processors in (2, 0, 3, 5):
        small = [job for job in expected if job.processors <= processors]
        assert queue.small(processors) == small
    for block in queue.blocks:
        assert all(entry[2].processors >= block.fewest for entry in block.entries)
        assert all(entry[2].estimate >= block.shortest for entry in block.entries)
    queue.reorder(lambda job: -job.index)
    assert [job.index for job in queue] == sorted((job.index for job in left), reverse=True)


def test_a_job_that_does_not_wait_cannot_be_removed() -> None:
    queue = WaitingQueue()
    with pytest.raises(KeyError):
        queue.remove(job_of(1, 1))
