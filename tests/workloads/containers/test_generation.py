"""Synthetic traces of container jobs."""

from __future__ import annotations

import dataclasses
import tarfile

import pytest
from hypothesis import given, strategies as st

from rebecsim.workloads.files import WorkloadError
from rebecsim.workloads.generation import Spread, TraceModel, generate_containers
from rebecsim.workloads.sls import write_sls

SHAPES = st.sampled_from(["uniform", "exponential", "constant"])


@st.composite
def spreads(draw: st.DrawFn, least: int = 0, step: int = 1) -> Spread:
    low = draw(st.integers(least, 50))
    high = draw(st.integers(low, 200))
    return Spread(draw(SHAPES), low * step, high * step)


models = st.builds(
    TraceModel,
    jobs=st.integers(1, 30),
    start=spreads(),
    tasks=spreads(least=1),
    duration=spreads(),
    memory=spreads(least=1, step=100),
)


@given(model=models, seed=st.integers(0, 2**63))
def test_every_value_lies_between_its_bounds(model, seed):
    jobs = generate_containers(model, seed)
    assert [job.number for job in jobs] == list(range(model.jobs))
    starts = [job.start for job in jobs]
    assert starts == sorted(starts)
    for job in jobs:
        (task,) = job.classes
        values = (job.start // 1000, task.count, task.duration // 1000, task.memory)
        for value, spread in zip(
            values, (model.start, model.tasks, model.duration, model.memory), strict=True
        ):
            assert spread.low <= value <= spread.high
        assert task.memory % 100 == task.duration % 1000 == job.start % 1000 == 0


@given(model=models, seed=st.integers(0, 2**63), memory=spreads(least=1, step=100))
def test_another_column_leaves_the_others_as_they_are(model, seed, memory):
    def others(of: TraceModel) -> list[object]:
        jobs = generate_containers(of, seed)
        return [(job.start, job.classes[0].count, job.classes[0].duration) for job in jobs]

    assert others(model) == others(dataclasses.replace(model, memory=memory))


def test_another_seed_gives_another_trace():
    first, again, other = (generate_containers(TraceModel(), seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_the_largest_exponential_number_is_the_upper_bound():
    for like_dss in (False, True):
        model = TraceModel(tasks=Spread("exponential", 3, 700))
        counts = [job.classes[0].count for job in generate_containers(model, 5, like_dss=like_dss)]
        assert max(counts) in (699, 700)  # the product may be a hair below
        assert sorted(counts)[50] < 250


@pytest.mark.parametrize(
    ("name", "jobs", "columns", "seed"),
    [
        (
            "traceA_100j_seed1",
            100,
            ("exponential:5-500", "uniform:1-50", "uniform:10-200", "exponential:100-8000"),
            1,
        ),
        (
            "traceC_100j_seed3",
            100,
            ("uniform:0-2000", "exponential:1-40", "exponential:5-300", "uniform:500-6000"),
            3,
        ),
        (
            "traceS_30j_seed42",
            30,
            ("uniform:0-120", "uniform:1-20", "uniform:5-90", "uniform:500-6000"),
            42,
        ),
    ],
)
def test_traces_of_dss_are_made_again_byte_for_byte(
    tmp_path, shared_data, name, jobs, columns, seed
):
    with tarfile.open(shared_data / "dss" / "cases.tar.xz") as packed:
        member = next(each for each in packed if each.name.endswith(f"/{name}.trace"))
        expected = packed.extractfile(member)
        assert expected is not None
        content = expected.read()
    model = TraceModel(jobs, *map(Spread.of, columns))
    path = tmp_path / "made.json"
    write_sls(generate_containers(model, seed, like_dss=True), path)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: Spread.of("10-20"), "10-20: write it as uniform:10-200, or as constant:5"),
        (lambda: Spread.of("uniform:1.5-2"), "uniform:1.5-2: write it as"),
        (lambda: Spread.of("unifrom:1-2"), "'unifrom' is not a shape; did you mean uniform?"),
        (lambda: Spread.of("uniform:9-2"), "uniform:9-2: should be 0 or more, with the smaller"),
        (lambda: TraceModel(jobs=0), "a trace of 0 jobs"),
        (lambda: TraceModel(tasks=Spread.of("uniform:0-5")), "a job needs at least 1 task"),
        (lambda: TraceModel(memory=Spread.of("uniform:0-500")), "use a multiple of 100 MB"),
        (lambda: TraceModel(memory=Spread.of("uniform:150-500")), "use a multiple of 100 MB"),
        (
            lambda: generate_containers(
                TraceModel(start=Spread.of("constant:1-5")), 1, like_dss=True
            ),
            "constant:1-5: DSS draws this without a seed; give a value, as constant:1",
        ),
        (
            lambda: generate_containers(TraceModel(), 2**32, like_dss=True),
            "a seed of DSS is from 0 to 4294967295, not 4294967296",
        ),
    ],
)
def test_what_has_no_sense_is_refused(make, problem):
    with pytest.raises(WorkloadError, match=problem.replace("?", r"\?")):
        make()
