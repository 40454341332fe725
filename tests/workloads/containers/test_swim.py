"""Traces of SWIM: bytes become tasks by a rule."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from rebecsim.workloads.container_jobs import ContainerJob, TaskClass
from rebecsim.workloads.files import WorkloadError
from rebecsim.workloads.swim import MB, SwimRule, read_swim


def write(folder: Path, *rows: str) -> Path:
    path = folder / "trace.tsv"
    path.write_text("".join(f"{row}\n" for row in rows))
    return path


def row(*values: object) -> str:
    return "\t".join(map(str, values))


def test_a_job_has_maps_for_its_input_and_reduces_for_its_shuffle(tmp_path):
    path = write(tmp_path, row("job7", 49, 49, 256 * MB + 1, 1025 * MB, 75 * MB))
    trace = read_swim(path)
    maps = TaskClass("map", 3, 1000 + 8541, 1024, 1, 10)  # 427 MB and a byte each, at 50 MB/s
    reduces = TaskClass("reduce", 2, 1000 + 11_000, 1024, 1, 20)  # 550 MB each
    assert trace.jobs == (ContainerJob(7, 49_000, None, (maps, reduces)),)
    assert trace.jobs[0].source == f"{path}:1"
    assert (trace.map_input, trace.shuffle, trace.output) == (256 * MB + 1, 1025 * MB, 75 * MB)


def test_a_job_without_a_shuffle_has_maps_that_write_the_output(tmp_path):
    rule = SwimRule(throughput=10, startup=0, memory=2048, cores=2)
    (job,) = read_swim(write(tmp_path, row("job0", 0, 0, 0, 0, 30 * MB)), rule).jobs
    assert job.classes == (TaskClass("map", 1, 3000, 2048, 2, 10),)


@given(moved=st.tuples(*[st.integers(0, 2**45)] * 3), block=st.integers(1, 512))
def test_tasks_move_all_bytes_and_hardly_more(moved, block):
    rule = SwimRule(block=block, startup=0, throughput=1)
    classes = {each.kind: each for each in rule.classes(*moved)}
    map_input, shuffle, output = moved
    expected = {"map": map_input + (shuffle or output)}
    if shuffle:
        expected["reduce"] = shuffle + output
    assert set(classes) == set(expected)
    for kind, total in expected.items():
        count, duration = classes[kind].count, classes[kind].duration
        assert count * duration * MB >= total * 1000
        assert count * (duration - 1) * MB <= (total + count) * 1000


@pytest.mark.parametrize(
    ("second", "problem"),
    [
        ("job2\t1\t1\t1\t1", "5 fields between tabs instead of 6: job, submit time, gap"),
        (row("job1", 1, 1, 1, 1, 1), "job1: is given again; first in line 1"),
        (row("other", 1, 1, 1, 1, 1), "job should be job and a number, not 'other'"),
        (row("job2", 1, 1, 1.5, 1, 1), "job2: map input should be a whole number of 0 or more"),
        (
            row("job2", 1, 1, 1, -1, 1),
            "job2: shuffle should be a whole number of 0 or more, not '-1'",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, second, problem):
    path = write(tmp_path, row("job1", 0, 0, 1, 1, 1), second)
    with pytest.raises(WorkloadError) as raised:
        read_swim(path)
    assert str(raised.value).startswith(f"{path}:2: {problem}")


def test_a_trace_without_jobs_and_a_rule_without_sense_are_refused(tmp_path):
    with pytest.raises(WorkloadError, match="the file is empty"):
        read_swim(write(tmp_path))
    with pytest.raises(WorkloadError, match="block should be at least 1, not 0"):
        SwimRule(block=0)


def test_the_logs_of_facebook_are_read_whole(shared_data):
    trace = read_swim(shared_data / "swim" / "FB-2009_samples_24_times_1hr_0.tsv.gz")
    assert len(trace.jobs) == 5894
    assert (trace.map_input, trace.shuffle) == (26_886_497_357_605, 22_216_712_306_762)
