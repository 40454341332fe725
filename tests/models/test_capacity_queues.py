"""The small Capacity Scheduler: what holds of it, and what does not when a line is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest

from rebecsim.actors import Model, RandomScheduler, ReplayScheduler, Streams
from rebecsim.clusters.mapreduce.schedulers.capacity_settings import (
    CapacityQueueSettings,
    slot_limits,
)
from rebecsim.exploration import Checks, Result, explore, find_races
from rebecsim.lang import parse_property_file
from rebecsim.live import LiveLimits, check_log, run_live
from rebecsim.native.engines import Engine
from rebecsim.simulation import Tracer, simulate
from tests.models.by_hand import Changes, Rebecs, changed_model, for_ever
from tests.models.lessons import TEACHING
from tests.models.walks import ends_of
from tests.on_demand import OnDemand

FILE = TEACHING / "capacity_queues.py"
PROPERTIES = FILE.with_suffix(".property")
STATES, TRANSITIONS = 5472, 9714
BEYOND: Changes = (("UP_TO_MAXIMUM = True", "UP_TO_MAXIMUM = False"),)
BY_NAME: Changes = (("LEAST_FIRST = True", "LEAST_FIRST = False"),)
COUNTED: Changes = (("self.state[job] = DONE", "pass"),)
WAITS = 1


def cluster(changes: Changes = ()) -> Model:
    return changed_model(FILE, changes)


def explored(changes: Changes = (), engine: Engine = "python") -> Result:
    checks = Checks(properties=parse_property_file(PROPERTIES))
    return explore(cluster(changes), checks=checks, engine=engine)


@pytest.mark.parametrize("engine", ["python", "native"])
def test_all_that_is_promised_holds_in_every_state(engine: Engine) -> None:
    found = explored(engine=engine)
    assert found.verdict == "satisfied"
    assert (found.states, found.transitions, found.engine) == (STATES, TRANSITIONS, engine)
    assert found.standstill is None


def test_it_is_a_function_of_its_state() -> None:
    found = explore(cluster(), strict=True)
    assert (found.verdict, found.states) == ("satisfied", STATES)


@pytest.mark.parametrize("engine", ["python", "native"])
@pytest.mark.parametrize(
    ("changes", "message", "steps"),
    [
        (BEYOND, "maximum", 16),
        (BY_NAME, "a queue under its capacity goes before one that is not", 20),
    ],
)
def test_planted_faults_are_found_on_shortest_ways(
    changes: Changes, message: str, steps: int, engine: Engine
) -> None:
    found = explored(changes, engine)
    assert (found.verdict, found.message) == ("assertion failed", message)
    path = found.path
    assert path is not None
    assert path.run is not None
    assert len(path) == steps
    assert path.steps[-1].server == "node_heartbeat"
    assert simulate(cluster(changes), ReplayScheduler(path.run)).steps == steps


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        # The number of users does not count, and the factor is larger.
        ((("PERCENT = 50", "PERCENT = 100"), ("FACTOR = 1", "FACTOR = 2")), "users"),
        # Nobody looks at users.
        ((("return self._has_user(user) < self._user_limit(queue)", "return True"),), "users"),
        # A node always says that it is free, and tasks last.
        (
            (("SLOTS - self.busy,", "SLOTS,"), ("self.choose(1, 3, site=1)", "9")),
            "no node runs more tasks",
        ),
    ],
)
def test_every_promise_can_be_broken(changes: Changes, message: str) -> None:
    found = explored(changes)
    assert found.verdict == "assertion failed"
    assert message in found.message


def waiting(rebecs: Rebecs) -> Iterable[int]:
    """The jobs that wait to be initialised."""
    return [job for job, state in enumerate(rebecs["tracker"]["state"]) if state == WAITS]


def test_every_job_is_initialised_in_the_end_unless_ended_ones_go_on_being_counted() -> None:
    assert for_ever(FILE, (), waiting) == set()
    assert {job for _, job in for_ever(FILE, COUNTED, waiting)} == {2}
    assert explored(COUNTED).verdict == "satisfied"


def test_every_job_ends() -> None:
    def unfinished(rebecs: Rebecs) -> list[bool]:
        return [True] if rebecs["tracker"]["state"] != [3, 3, 3, 3] else []

    assert for_ever(FILE, (), unfinished) == set()


@pytest.mark.parametrize("changes", [(), BEYOND])
def test_simulated_and_live_runs_are_runs_of_the_explored_space(changes: Changes) -> None:
    model = cluster(changes)
    space = OnDemand(model)
    for replication in range(10):
        tracer = Tracer()
        scheduler = RandomScheduler(Streams((7, 1), replication))
        assert simulate(model, scheduler, max_steps=80, tracer=tracer).outcome == "step limit"
        assert ends_of(space, tracer.events) == {""}
    run = run_live(model, LiveLimits(steps=60), seed=1)
    assert run.error is None
    check_log(model, run.log)
    assert ends_of(space, [each.event for each in run.log.served]) == {""}


def test_its_limits_are_those_of_the_scheduler() -> None:
    """With the same parameters the scheduler of whole clusters gives the same numbers."""
    first = CapacityQueueSettings(
        capacity=50, maximum_capacity=75, minimum_user_limit_percent=50, user_limit_factor=1
    )
    limits = slot_limits(first, 4)
    text = FILE.read_text("utf-8")
    assert (limits.capacity, limits.maximum, limits.of_user) == (2, 3, 2)
    assert re.search(r"^CAPACITY = 2 ", text, re.MULTILINE)
    assert re.search(r"^MAXIMUM = \(3, 2\) ", text, re.MULTILINE)
    expected = {(0, 1): 2, (0, 2): 1, (1, 2): 1, (2, 2): 2, (2, 1): 2, (3, 2): 2}
    assert {now: limits.user_limit(*now) for now in expected} == expected


@pytest.mark.slow
def test_the_next_heartbeats_make_up_for_a_late_one() -> None:
    found = find_races(cluster(), checks=Checks(properties=parse_property_file(PROPERTIES)))
    (group,) = found.groups
    assert (group.kind, group.races) == ("while", 225)
    assert group.distance == (71, 18)
