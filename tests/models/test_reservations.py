"""The small YARN with reservations: what holds of it, what does not, and what may break that."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator
from pathlib import Path

import pytest

from rebecsim.actors import Instance, Model, RandomScheduler, Rebec, ReplayScheduler, Streams
from rebecsim.clusters.yarn import launching, rebecs as yarn
from rebecsim.exploration import Checks, Mode, Result, explore
from rebecsim.generate.module import load_model
from rebecsim.lang import parse_property_file
from rebecsim.live import LiveLimits, check_log, run_live
from rebecsim.native.engines import Engine
from rebecsim.simulation import Tracer, simulate
from tests.conftest import Run
from tests.models import by_hand
from tests.models.by_hand import Changes, Rebecs, changed_model
from tests.models.lessons import MODELS, TEACHING
from tests.models.walks import ends_of
from tests.on_demand import OnDemand

FILE = TEACHING / "yarn_reservations.py"
PROPERTIES = FILE.with_suffix(".property")
STATES, TRANSITIONS = 5972, 12573

FORGOTTEN: Changes = (("GIVES_UP = True", "GIVES_UP = False"),)
LARGE: Changes = (("MASTER, TASK = 1, 2", "MASTER, TASK = 1, 3"),)


def cluster(changes: Changes = ()) -> Model:
    return changed_model(FILE, changes)


def checks() -> Checks:
    return Checks(properties=parse_property_file(PROPERTIES))


def explored(changes: Changes = (), engine: Engine = "python", mode: Mode = "FTTS") -> Result:
    return explore(cluster(changes), checks=checks(), engine=engine, mode=mode)


def for_ever(changes: Changes, holding: Callable[[Rebecs], Iterable[Hashable]]) -> set[int]:
    """The states from which something can go on for ever."""
    return {number for number, _ in by_hand.for_ever(FILE, changes, holding)}


def reservations(rebecs: Rebecs) -> Iterator[Hashable]:
    """Which node is reserved for which job, and for its AppMaster or a task."""
    manager = rebecs["manager"]
    for node, job in enumerate(manager["reserved"]):
        if job >= 0:
            yield node, job, manager["for_master"][node]


def unfinished(rebecs: Rebecs) -> list[bool]:
    """Whether a job has something left to do."""
    manager = rebecs["manager"]
    return [True] if manager["given"] != [3, 3] or manager["used"] != [0, 0] else []


@pytest.mark.parametrize("engine", ["python", "native"])
@pytest.mark.parametrize(
    ("mode", "counts"), [("FTTS", (STATES, TRANSITIONS)), ("TTS", (6570, 13171))]
)
def test_all_that_is_promised_holds_in_every_state(
    engine: Engine, mode: Mode, counts: tuple[int, int]
) -> None:
    found = explored(engine=engine, mode=mode)
    assert found.verdict == "satisfied"
    assert (found.states, found.transitions) == counts
    assert found.engine == engine
    assert found.standstill is None
    assert found.standstill_decided


def test_it_is_a_function_of_its_state() -> None:
    found = explore(cluster(), checks=checks(), strict=True)
    assert (found.verdict, found.states) == ("satisfied", STATES)


@pytest.mark.parametrize("engine", ["python", "native"])
def test_the_forgotten_reservation_is_found_on_a_shortest_way(engine: Engine) -> None:
    found = explored(FORGOTTEN, engine)
    assert (found.verdict, found.message) == ("assertion failed", "given_up")
    path = found.path
    assert path is not None
    assert path.run is not None
    assert len(path) == 37
    assert path.steps[-1].server == "node_heartbeat"
    assert dict(path.steps[-1].changed) == {"kept": [3, 0]}
    result = simulate(cluster(FORGOTTEN), ReplayScheduler(path.run))
    assert result.steps == 37


def test_the_fault_is_an_argument_too() -> None:
    manager, *others = cluster().instances
    faulty = Instance(manager.name, manager.reactive_class, manager.knows, arguments=[False])
    found = explore(Model("faulty", (faulty, *others)), checks=checks())
    assert (found.verdict, found.message) == ("assertion failed", "given_up")


def test_no_fewer_heartbeats_would_do() -> None:
    found = explore(
        cluster(), checks=Checks(invariants=["manager.kept[0] <= 1 && manager.kept[1] <= 1"])
    )
    assert found.verdict == "property violated"


def test_a_reserved_node_is_given_up_in_the_end() -> None:
    assert for_ever((), reservations) == set()
    assert for_ever(FORGOTTEN, reservations)


def test_both_jobs_finish_whether_reservations_are_forgotten_or_not() -> None:
    assert for_ever((), unfinished) == set()
    assert for_ever(FORGOTTEN, unfinished) == set()


def test_tasks_as_large_as_a_node_are_stuck() -> None:
    assert explored(LARGE).message == "given_up"
    assert for_ever(LARGE, reservations) & for_ever(LARGE, unfinished)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        # The manager forgets that a container does not fit.
        (("return size(self.given[job]) <= self.free[node]", "return True"), "memory is never"),
        # It takes more for free than has been used.
        (("self.free[node] += done * TASK", "self.free[node] += 2 * done * TASK"), "books"),
        # The AppMaster says that it has left while it may still be there.
        (("left(self.job, after=1)", "left(self.job)"), "books"),
        # The first task is given again and again.
        (("self.given[job] += 1", "self.given[job] = 1"), "no container is launched twice"),
    ],
)
def test_every_promise_can_be_broken(change: tuple[str, str], message: str) -> None:
    found = explored((change,))
    assert found.verdict == "assertion failed"
    assert found.message.startswith(message) or message in found.message


def test_a_node_would_notice_books_that_are_wrong() -> None:
    change = ("self.free[node] += done * TASK", "self.free[node] += 2 * done * TASK")
    found = explore(cluster((change,)))
    assert "no node uses more memory than it has" in found.message


@pytest.mark.parametrize("changes", [(), FORGOTTEN])
def test_simulated_and_live_runs_are_runs_of_the_explored_space(changes: Changes) -> None:
    model = cluster(changes)
    space = OnDemand(model)
    for replication in range(20):
        tracer = Tracer()
        scheduler = RandomScheduler(Streams((7, 1), replication))
        assert simulate(model, scheduler, max_steps=80, tracer=tracer).outcome == "step limit"
        assert ends_of(space, tracer.events) == {""}
    for seed in range(3):
        run = run_live(model, LiveLimits(steps=60), seed=seed)
        assert run.error is None
        check_log(model, run.log)
        assert ends_of(space, [each.event for each in run.log.served]) == {""}


def test_it_can_be_walked_by_hand_to_the_reservation(run: Run) -> None:
    stopped = run("step", FILE, typed="break if manager.reserved[0] >= 0\nrun\nquit\n")
    assert stopped.returncode == 0
    assert "breakpoint: if manager.reserved[0] >= 0" in stopped.stdout
    assert re.search(r"reserved\s*=\s*\[[01],", stopped.stdout)


def test_the_picture_shows_every_rebec(run: Run, tmp_path: Path) -> None:
    assert run("draw", FILE, "--out", tmp_path / "who.svg").returncode == 0
    drawn = (tmp_path / "who.svg").read_text("utf-8")
    for rebec in ("manager", "node0", "node1", "master0", "master1"):
        assert drawn.count(f">{rebec}<") == 1
    assert 'class="label"' not in drawn


def test_its_messages_are_those_of_the_clusters_of_yarn() -> None:
    def servers(*classes: type[Rebec]) -> set[str]:
        return {name for each in classes for name in each.__servers__}

    small = {
        type_.__name__: type_ for type_ in {each.reactive_class for each in cluster().instances}
    }
    large = (yarn.ResourceManager, launching.NodeManager, launching.AppMaster)
    assert small.keys() == {each.__name__ for each in large}
    # There the manager keeps the time of the heartbeats of AppMasters, and answers to them.
    of_the_model = {"allocated", "register", "released", "heartbeat"}
    assert servers(*small.values()) - of_the_model <= servers(*large)


def test_the_page_names_the_model() -> None:
    page = (MODELS.parent / "docs/models/yarn_reservations.md").read_text("utf-8")
    assert f"models/teaching/{FILE.name}" in page
    assert load_model(FILE).name == FILE.stem
