from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from rebecsim.clusters.batch import (
    Job,
    NodeGroup,
    Nodes,
    Pool,
    SingleNodes,
    machine_of,
    run_schedule,
)
from rebecsim.clusters.batch.machine import Placement
from rebecsim.errors import UserError
from rebecsim.workloads import Workload


def wish(processors: int, *demand: int, chunk: int = 1) -> Job:
    return Job(0, 1, 0, 1, processors, 1, chunk=chunk, demand=demand)


def on_nodes(amount: NDArray[np.int64] | None) -> list[tuple[int, int]]:
    """Give the nodes of an amount, and how many processors it takes of each."""
    assert amount is not None
    return [(node, each) for node, each in enumerate(amount[:, 0].tolist()) if each]


GROUPS = (NodeGroup(2, 4, {"memory": 100}), NodeGroup(1, 8, {"memory": 50, "gpu": 2}))


def test_the_level_of_an_empty_machine_has_a_row_for_each_node() -> None:
    machine = Nodes(*GROUPS)
    assert machine.resources == ("memory", "gpu")
    assert machine.processors == 16
    assert machine.empty.tolist() == [[4, 100, 0], [4, 100, 0], [8, 50, 2]]


def test_first_fit_goes_through_the_nodes_in_order() -> None:
    machine = Nodes(*GROUPS)
    amount = machine.place(wish(6, 10, 0), machine.empty)
    assert amount.tolist() == [[4, 40, 0], [2, 20, 0], [0, 0, 0]]
    assert on_nodes(amount) == [(0, 4), (1, 2)]


def test_best_fit_prefers_the_fullest_node() -> None:
    machine = Nodes(*GROUPS, placement="best-fit")
    level = machine.empty - np.array([[0, 0, 0], [3, 0, 0], [0, 0, 0]])
    assert on_nodes(machine.place(wish(1, 1, 0), level)) == [(1, 1)]
    assert on_nodes(machine.place(wish(2, 1, 0), level)) == [(0, 1), (1, 1)]


def test_a_scarce_resource_decides() -> None:
    machine = Nodes(*GROUPS)
    assert on_nodes(machine.place(wish(2, 0, 1), machine.empty)) == [(2, 2)]
    assert machine.place(wish(3, 0, 1), machine.empty) is None
    assert machine.place(wish(1, 101, 0), machine.empty) is None


def test_a_chunk_is_on_one_node() -> None:
    machine = Nodes(*GROUPS)
    assert on_nodes(machine.place(wish(6, 0, 0, chunk=3), machine.empty)) == [(0, 3), (1, 3)]
    assert on_nodes(machine.place(wish(8, 0, 0, chunk=8), machine.empty)) == [(2, 8)]
    assert machine.place(wish(16, 0, 0, chunk=8), machine.empty) is None


@given(
    taken=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9)), min_size=3, max_size=3),
    chunks=st.integers(1, 6),
    chunk=st.integers(1, 3),
    memory=st.integers(0, 4),
    placement=st.sampled_from(["first-fit", "best-fit"]),
)
def test_what_is_placed_fits_and_is_what_was_asked_for(
    taken: list[tuple[int, int]], chunks: int, chunk: int, memory: int, placement: Placement
) -> None:
    machine = Nodes(NodeGroup(3, 4, {"memory": 9}), placement=placement)
    level = machine.empty - np.array(taken)
    job = wish(chunks * chunk, memory, chunk=chunk)
    amount = machine.place(job, level)
    room = sum(
        min(free // chunk, left // (chunk * memory) if memory else 99)
        for free, left in level.tolist()
    )
    assert (amount is not None) == (room >= chunks)
    if amount is not None:
        assert (amount <= level).all()
        assert amount.sum(axis=0).tolist() == [job.processors, job.processors * memory]
        assert not (amount[:, 0] % chunk).any()


def test_memory_makes_jobs_wait_for_each_other() -> None:
    workload = Workload.of(
        submit=[0, 0, 0], run=[10, 10, 10], processors=[1, 1, 1], requested_memory=[60, 60, 40]
    )
    machine = Nodes(NodeGroup(1, 4, {"memory": 100}))
    assert run_schedule(workload, machine, "FCFS").start.tolist() == [0, 10, 10]
    assert run_schedule(workload, machine, "EASY").start.tolist() == [0, 10, 0]
    assert run_schedule(workload, machine, "CONSERVATIVE").start.tolist() == [0, 10, 0]
    assert run_schedule(workload, Pool(4), "FCFS").start.tolist() == [0, 0, 0]


def test_named_resources_and_chunks_of_a_run() -> None:
    workload = Workload.of(submit=[0, 0, 0], run=[5, 5, 5], processors=[2, 2, 4])
    machine = Nodes(NodeGroup(2, 4, {"gpu": 2}))
    schedule = run_schedule(workload, machine, "FCFS", demands={"gpu": [1, 1, 0]}, chunk=[2, 2, 4])
    assert schedule.start.tolist() == [0, 0, 5]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"machine": 2}, "job 2 takes 3 processors and does not fit on the machine of 2"),
        (
            {"machine": machine_of(NodeGroup(4, 1)), "chunk": [1, 3]},
            "job 2 takes 3 processors, 3 of them on a node and does not fit",
        ),
        ({"chunk": [1, 2]}, "job 2 takes 3 processors in chunks of 2"),
        ({"chunk": 0}, "chunk is 0 for some job"),
        ({"chunk": [1, 1, 1]}, "chunk should be a whole number, or one for each of the jobs"),
        ({"demands": {"gpu": 1}}, "the machine has no resource 'gpu'; it has none"),
        ({"machine": 0}, "a machine of 0 processors"),
        ({"estimates": "guessed"}, "no estimates 'guessed'; known are requested, exact"),
    ],
)
def test_what_cannot_be_run_is_refused(arguments: dict[str, object], message: str) -> None:
    workload = Workload.of(submit=[0, 0], run=[1, 1], processors=[1, 3])
    with pytest.raises(UserError, match=message):
        run_schedule(workload, **arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "make",
    [
        lambda: machine_of(),
        lambda: NodeGroup(0, 1),
        lambda: NodeGroup(1, 1, {"memory": -1}),
        lambda: Nodes(NodeGroup(1, 1), placement="worst-fit"),
        lambda: SingleNodes(NodeGroup(1, 2)),
    ],
)
def test_impossible_machines_are_refused(make: object) -> None:
    with pytest.raises(UserError):
        make()  # type: ignore[operator]


@given(
    count=st.sampled_from([63, 64, 70, 513, 600]),
    data=st.data(),
    placement=st.sampled_from(["first-fit", "best-fit"]),
)
def test_nodes_of_one_processor_are_taken_as_any_nodes_are(
    count: int, data: st.DataObject, placement: Placement
) -> None:
    level = data.draw(st.integers(0, 2**count - 1))
    about = level.bit_count()  # what just fits, or just does not, is asked for as often as the rest
    processors = data.draw(st.integers(1, count) | st.integers(max(about - 1, 1), about + 1))
    single = machine_of(NodeGroup(40, 1), NodeGroup(count - 40, 1), placement=placement)
    other = machine_of(NodeGroup(count, 1, {"nothing": 0}), placement=placement)
    assert isinstance(single, SingleNodes)
    assert not isinstance(other, SingleNodes)
    assert single.node_count == single.processors == single.free(single.empty) == count
    bits = [[level >> node & 1, 0] for node in range(count)]
    amount = single.place(wish(processors), level)
    same = other.place(wish(processors), np.array(bits))
    if same is None:
        assert amount is None
    else:
        assert amount is not None
        assert [(amount >> node & 1, 0) for node in range(count)] == list(map(tuple, same.tolist()))
        assert single.first_node(amount) == other.first_node(same)
        assert (level - amount) | amount == level
        assert (level - amount) & amount == 0
    assert single.place(wish(2, chunk=2), single.empty) is None
