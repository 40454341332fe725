"""What is written is read again as the same jobs, in both dialects."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from rebecsim.workloads.container_jobs import ContainerJob, TaskClass
from rebecsim.workloads.files import WorkloadError
from rebecsim.workloads.hadoop_dialect import maps_first
from rebecsim.workloads.sls import Dialect, read_sls_jobs, write_sls
from tests.examples import dear

numbers = st.integers(0, 2**53)
words = st.text(min_size=1, max_size=9)


@st.composite
def task_classes(draw: st.DrawFn, dialect: Dialect) -> TaskClass:
    dss = dialect == "dss"
    penalty = draw(st.none() | st.sampled_from(["STEP", "POWER1"])) if dss else None
    return TaskClass(
        draw(st.sampled_from(["map", "reduce"])),
        draw(st.integers(1, 2**53)),
        draw(st.integers(0 if dss else 1, 2**53)),
        draw(st.integers(1, 2**53)),
        draw(numbers),
        draw(st.integers(-(2**53), 2**53)),
        penalty,
        draw(st.floats(1, 9)) if penalty else None,
        draw(st.just("") | words),
        -1 if dss else draw(st.integers(-1, 9)),
    )


@st.composite
def traces(draw: st.DrawFn, dialect: Dialect) -> Sequence[ContainerJob]:
    """Draw jobs; those of other names are numbered as reading numbers them."""
    own = draw(st.lists(st.integers(0, 99), min_size=1, max_size=4, unique=True))
    named = [(number, "") for number in own]
    if dialect == "hadoop":
        names = draw(st.lists(words.map("x {}".format), max_size=3, unique=True))
        named += [(max(own) + place, name) for place, name in enumerate(names, start=1)]
    classes = st.lists(
        task_classes(dialect), min_size=0 if dialect == "dss" else 1, max_size=3
    ).map(tuple)
    jobs: list[ContainerJob] = []
    for number, name in named:
        after = draw(st.none() | st.sampled_from([job.number for job in jobs])) if jobs else None
        application = draw(st.sampled_from(["mapreduce", "dag"]) | words)
        tasks = draw(classes)
        if (dialect, application) == ("hadoop", "mapreduce"):
            tasks = maps_first(tasks)  # as every reader has them
        job = ContainerJob(
            number,
            draw(numbers) if after is None else None,
            after,
            tasks,
            user=draw(words),
            queue=draw(words),
            label=draw(st.just("") | words),
            end=draw(st.none() | st.integers(1, 2**53)),
            application=application,
            master_memory=draw(st.none() | st.integers(1, 2**53)),
            master_cores=draw(st.none() | st.integers(1, 2**53)),
            known_as=name,
        )
        jobs.append(job)
    return jobs


@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz"])
@pytest.mark.parametrize("dialect", ["dss", "hadoop"])
@settings(max_examples=dear(60))
@given(data=st.data())
def test_a_trace_that_is_written_is_read_as_it_was(tmp_path_factory, dialect, name, data):
    jobs = data.draw(traces(dialect))
    path: Path = tmp_path_factory.mktemp("trace") / name
    write_sls(jobs, path, dialect)
    assert list(read_sls_jobs(path)) == jobs


def test_dss_finds_every_job_as_it_reads_ten_lines_at_once(tmp_path):
    path = tmp_path / "trace.json"
    task = TaskClass("map", 1, 1, 100)
    jobs = [ContainerJob(number, 0, None, (task,) * number) for number in range(3)]
    write_sls(jobs, path)
    lines = path.read_text().split("\n")
    begins = [place for place, line in enumerate(lines) if line.startswith("{\t")]
    ends = [*begins[1:], len(lines) - 1]
    assert [end - begin for begin, end in zip(begins, ends, strict=True)] == [10, 10, 11]


def test_jobs_of_other_names_have_those_that_dss_knows(tmp_path):
    task = (TaskClass("map", 1, 1, 100),)
    path = tmp_path / "trace.json"
    etl = ContainerJob(3, 0, None, task, known_as="etl")
    write_sls([etl, ContainerJob(4, None, 3, task)], path)
    assert [(job.name, job.after) for job in read_sls_jobs(path)] == [("job_3", None), ("job_4", 3)]


@pytest.mark.parametrize(
    ("classes", "dialect", "problem"),
    [
        ((), "hadoop", "job_1: a job of Hadoop needs at least 1 task"),
        ((TaskClass("map", 1, 0, 100),), "hadoop", "job_1, task 1: a task of Hadoop runs for"),
        (
            (TaskClass("map", 1, 1, 100, penalty="STEP", bump=2.0),),
            "hadoop",
            "job_1, task 1: Hadoop's traces have no penalties",
        ),
        (
            (TaskClass("map", 1, 1, 100, allocation=4),),
            "dss",
            "job_1, task 1: DSS's traces have no allocation ids",
        ),
        (
            (TaskClass("map", 1, 1, 100, penalty="STEP"),),
            "dss",
            "job_1, task 1: a penalty and its bump go together",
        ),
    ],
)
def test_what_a_dialect_cannot_say_is_refused_and_nothing_written(
    tmp_path, classes, dialect, problem
):
    path = tmp_path / "trace.json"
    with pytest.raises(WorkloadError, match=problem):
        write_sls([ContainerJob(1, 0, None, classes)], path, dialect)
    assert not path.exists()
