from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given, settings, strategies as st

from rebecsim.actors import Streams, execute
from rebecsim.actors.randomness import ORDER_STREAM, choice_stream
from rebecsim.clusters.dispatch.configuration import HighPriority
from rebecsim.clusters.dispatch.patterns import (
    Ascending,
    Bursty,
    Descending,
    Linear,
    Nondet,
    UniformArrivals,
    UniformLengths,
)
from rebecsim.clusters.dispatch.policies import EVICTION_POLICIES, eviction_policy
from rebecsim.clusters.dispatch.source import (
    NATJAM_COUNTERS,
    Eviction,
    NatjamConfiguration,
    busy_time_variables,
    natjam_source,
)
from rebecsim.clusters.kit.plugins import UnknownNameError
from rebecsim.generate import build_model
from rebecsim.lang import check_source
from rebecsim.simulation import Event, Observation
from tests.batches import run_batch
from tests.clusters import reference_natjam as reference
from tests.examples import dear

KEY = (5, 7)
PRIORITIES = "10, 20, 30, 40, 50, 60, 70, 80, 90, 100"

ARRIVALS = (Bursty(size=5, interval=10), Nondet(minimum=0, maximum=2), UniformArrivals(count=1))
LENGTHS = (
    Linear(multiplier=2),
    Nondet(minimum=1, maximum=6),
    UniformLengths(length=3),
    Ascending(minimum=5, increment=1, points=3),
    Descending(maximum=6, decrement=1, points=6),
)


def configuration(*, overhead: int = 0, as_published: bool = False, **changes):
    values = {
        "policy": "MDF",
        "arrivals": UniformArrivals(count=1),
        "lengths": Nondet(minimum=1, maximum=6),
        "app_masters": 2,
        "queue_size": 12,
        "epsilon": 1.0,
        "eviction": Eviction(checkpoint_overhead=overhead, as_published=as_published),
    }
    return NatjamConfiguration(**{**values, **changes})


def model_of(config: NatjamConfiguration):
    return build_model(check_source(natjam_source(config), "natjam.rebeca"), "natjam.rebeca")


# --- the text ----------------------------------------------------------------------------------


@pytest.mark.parametrize("as_published", [False, True])
@pytest.mark.parametrize("policy", EVICTION_POLICIES)
def test_every_policy_renders_a_model_that_checks_with_every_workload(policy, as_published):
    for arrivals, lengths, high_length in zip(
        itertools.cycle(ARRIVALS), LENGTHS, itertools.cycle((0, 9)), strict=False
    ):
        source = natjam_source(
            configuration(
                policy=policy,
                arrivals=arrivals,
                lengths=lengths,
                high_priority=HighPriority(probability=30, length=high_length),
                as_published=as_published,
            )
        )
        check_source(source, "model.rebeca")
        assert "{{" not in source
        assert "{%" not in source
        assert "{#" not in source
        assert ("HIGH_PRIORITY_LENGTH" in source) == (high_length > 0)


def test_the_counters_are_state_variables_of_the_resource_manager():
    source = natjam_source(configuration())
    manager = source[source.index("reactiveclass ResourceManager") :]
    statevars = manager[manager.index("statevars") : manager.index("ResourceManager()")]
    declared = set(re.findall(r"int (m_\w+);", statevars))
    assert declared - {"m_time"} == set(NATJAM_COUNTERS.values())


def test_choices_stand_in_the_order_arrivals_lengths_priorities():
    source = natjam_source(
        configuration(arrivals=Nondet(minimum=0, maximum=1), lengths=Nondet(minimum=2, maximum=4))
    )
    assert re.findall(r"\?\(([^)]*)\)", source) == ["0, 1", "2, 3, 4", PRIORITIES]


def test_jobs_are_sent_to_every_app_master_at_one_place():
    source = natjam_source(configuration(app_masters=30))
    indices = [int(index) for index in re.findall(r"AppMaster am\d+\(rm\):\((\d+)\);", source)]
    assert indices == list(range(30))
    assert re.findall(r"am(\d+)\.runJob", source) == [str(number) for number in range(1, 31)]


@pytest.mark.parametrize(("app_masters", "queue"), [(1, 20), (9, 20), (10, 22), (100, 202)])
def test_the_manager_has_room_for_two_messages_of_every_app_master(app_masters, queue):
    source = natjam_source(configuration(app_masters=app_masters))
    assert f"reactiveclass ResourceManager({queue})" in source


def test_the_published_variant_has_the_mistakes_that_ours_lacks():
    ours = natjam_source(configuration()).splitlines()
    published = natjam_source(configuration(as_published=True)).splitlines()
    mended = [line.strip() for line in ours if line not in published]
    assert "slot = chooseCheckpoint();" in mended
    assert "msgsrv checkPoint(int oldTime, int oldDeadline) {" in mended
    assert any(line.startswith("assertion(m_arrived_jobs == held") for line in mended)
    added = [line.strip() for line in published if line not in ours]
    assert "slot = chooseCheckpointBesideResearch();" in added
    assert "if (m_checkpoint_deadline[i] > 0 && isResearch(i)) {" in added
    assert "target = victim(true);" in added
    assert "m_am_type[appMaster] = newType;" in added


def test_names_of_policies_are_those_registered():
    assert eviction_policy("MLF").title == "Maximum laxity first"
    with pytest.raises(UnknownNameError, match=r"no eviction policy.*'mlf'; did you mean MLF"):
        eviction_policy("mlf")
    with pytest.raises(ValueError, match="no eviction policy is called 'EDF'"):
        configuration(policy="EDF")


def test_the_name_of_a_model_says_what_varies_in_a_scenario():
    assert configuration(policy="MLF").file_stem == "mlf_uniform1_nondet1to6_am2"


# --- one tick ----------------------------------------------------------------------------------


def after_tick(config: NatjamConfiguration, **state: list[int]):
    """Set arrays of the ResourceManager, let it serve one tick, and give it; every job that draws
    a priority draws 10. The jobs in them never arrived, so they are not asserted."""
    source = natjam_source(config, asserting=False)
    model = build_model(check_source(source, "natjam.rebeca"), "natjam.rebeca")
    system = model.start(lambda rebec, count, site: 0)
    manager = system.rebec("rm")
    for name, values in state.items():
        assert len(getattr(manager, name)) == len(values), name
        getattr(manager, name)[:] = values
    execute(system, (manager, manager._bag.messages[0]))
    return manager


def sent(manager) -> list[tuple[int, ...]]:
    """The arguments of the runJob in the bag of each AppMaster; () where there is none."""
    bags = [rebec._bag for rebec in manager._system.rebecs[1:]]
    return [next(iter(bag)).arguments if bag else () for bag in bags]


QUIET = {"arrivals": UniformArrivals(count=0), "queue_size": 4}

BUSY = {
    "m_am_time": [5, 5],
    "m_am_deadline": [20, 18],
    "m_am_type": [2, 2],
    "m_checkpoint_time": [0, 0, 0, 3],
    "m_checkpoint_deadline": [0, 0, 0, 9],
}
WAITING = {
    "m_incoming_time": [0, 0, 0, 2],
    "m_incoming_deadline": [0, 0, 0, 7],
    "m_incoming_priority": [0, 0, 0, 100],
}


def test_as_published_a_checkpoint_waits_until_a_research_job_stands_at_its_index():
    ours = after_tick(configuration(**QUIET), **BUSY)
    assert sent(ours) == [(3, 8, 2), ()]
    assert ours.m_checkpoint_deadline == [0, 0, 0, 0]
    published = after_tick(configuration(as_published=True, **QUIET), **BUSY)
    assert sent(published) == [(), ()]
    assert published.m_checkpoint_deadline == [0, 0, 0, 8]


def test_as_published_an_evicting_checkpoint_costs_the_incoming_job_its_priority():
    ours = after_tick(configuration(**QUIET), **BUSY, **WAITING)
    assert sent(ours) == [(3, 8, 2), (2, 6, 2)]
    assert ours.m_incoming_deadline == [0, 0, 0, 0]
    published = after_tick(configuration(as_published=True, **QUIET), **BUSY, **WAITING)
    assert sent(published) == [(3, 8, 2), ()]
    assert published.m_incoming_deadline == [0, 0, 0, 6]
    assert published.m_incoming_priority == [0, 0, 0, 10]


@pytest.mark.parametrize(("policy", "evicted"), [("MDF", 0), ("MLF", 1)])
def test_the_policy_chooses_whom_to_evict(policy, evicted):
    running = {"m_am_time": [12, 4], "m_am_deadline": [20, 18], "m_am_type": [2, 2]}
    manager = after_tick(configuration(policy=policy, **QUIET), **running, **WAITING)
    assert sent(manager)[evicted] == (2, 6, 2)
    assert sent(manager)[1 - evicted] == ()


def test_research_evicts_only_jobs_that_can_wait_longer():
    running = {"m_am_time": [5, 5], "m_am_deadline": [7, 6], "m_am_type": [2, 2]}
    assert sent(after_tick(configuration(**QUIET), **running, **WAITING)) == [(), ()]


def test_production_evicts_research_whatever_the_keys_but_no_production():
    config = configuration(high_priority=HighPriority(probability=30), **QUIET)
    urgent = {
        "m_am_time": [5, 5],
        "m_am_deadline": [5, 6],
        "m_am_type": [2, 1],
        "m_incoming_time": [0, 0, 4, 4],
        "m_incoming_deadline": [0, 0, 90, 91],
        "m_incoming_priority": [0, 0, 30, 10],
    }
    manager = after_tick(config, **urgent)
    assert sent(manager) == [(4, 89, 1), ()]
    assert manager.m_incoming_deadline == [0, 0, 0, 90]


def test_production_evicts_no_job_in_its_last_unit_of_time_but_as_published():
    urgent = {
        "m_am_time": [5, 5],
        "m_am_deadline": [2, 20],  # of the first, one is left when this tick has aged it
        "m_am_type": [2, 1],
        "m_incoming_time": [0, 0, 0, 4],
        "m_incoming_deadline": [0, 0, 0, 90],
        "m_incoming_priority": [0, 0, 0, 10],
    }
    high = HighPriority(probability=30)
    assert sent(after_tick(configuration(high_priority=high, **QUIET), **urgent)) == [(), ()]
    published = configuration(high_priority=high, as_published=True, **QUIET)
    assert sent(after_tick(published, **urgent)) == [(4, 89, 1), ()]


def test_a_job_in_its_last_unit_of_work_is_not_evicted():
    running = {"m_am_time": [2, 3], "m_am_deadline": [20, 18], "m_am_type": [2, 2]}
    assert sent(after_tick(configuration(**QUIET), **running, **WAITING)) == [(), (2, 6, 2)]


def test_misses_are_counted_by_place_and_priority():
    manager = after_tick(
        configuration(high_priority=HighPriority(probability=30), **QUIET),
        m_incoming_time=[3, 3, 3, 3],
        m_incoming_deadline=[1, 1, 1, 0],
        m_incoming_priority=[30, 40, 100, 0],
        m_checkpoint_time=[2, 2, 0, 0],
        m_checkpoint_deadline=[1, 1, 0, 0],
    )
    assert manager.m_production_queue_misses == 1
    assert manager.m_research_queue_misses == 2
    assert manager.m_checkpoint_queue_misses == 2


# --- whole runs --------------------------------------------------------------------------------

REFERENCE_PATTERNS = {
    "uniform 1": reference.one_job,
    "nondet 0..3": lambda time, draw: draw(4),
    "nondet 1..6": lambda time, draw: 1 + draw(6),
    "ascending 5+1x3": lambda time, draw: 5 + time % 3,
    "descending 6-1x6": lambda time, draw: max(0, 6 - time % 6),
}
ONE_JOB, UP_TO_THREE = UniformArrivals(count=1), Nondet(minimum=0, maximum=3)
RISING, FALLING = LENGTHS[3], LENGTHS[4]


class Order:
    """Draws the order of messages for the reference from the stream that orders the model's."""

    def __init__(self, stream) -> None:
        self.randrange = stream.below

    def choice(self, options):
        return options[self.randrange(len(options))]


def reference_run(config: NatjamConfiguration, replication: int, law: str, ticks: int):
    """One run of the reference with the random numbers of the model's replication."""
    streams = Streams(KEY, replication)
    alternatives = [len(pattern.alternatives(0)) for pattern in (config.arrivals, config.lengths)]
    sites = [count for count in (*alternatives, 10) if count > 1]

    def drawn(site: int, count: int) -> int:
        stream = streams[choice_stream(0, 1 + site)]
        return stream.below(count) if law == "fair" else min(stream.below(count + 1), count - 1)

    def draw(count: int) -> int:
        return drawn(sites.index(count), count)

    def redraw(count: int) -> int:
        return drawn(len(sites), count)

    cluster = reference.Cluster(
        config.policy,
        config.app_masters,
        REFERENCE_PATTERNS[config.arrivals.label],
        REFERENCE_PATTERNS[config.lengths.label],
        config.epsilon,
        config.eviction.checkpoint_overhead,
        config.eviction.as_published,
        config.queue_size,
        config.high_priority.probability,
        config.high_priority.length,
        ticks,
        tuple(map(str, config.speeds)) or ("1",),
    )
    return vars(reference.simulate(cluster, draw, Order(streams[ORDER_STREAM]), redraw))


def model_runs(config: NatjamConfiguration, count: int, law: str, ticks: int):
    batch = run_batch(
        model_of(config),
        Observation("rm", tuple(NATJAM_COUNTERS.values())),
        key=KEY,
        replications=range(count),
        until=ticks - 1,
        choice_law=law,
    )
    return [
        {name: int(batch.columns[variable][run]) for name, variable in NATJAM_COUNTERS.items()}
        for run in range(count)
    ]


def assert_runs_are_the_same(config: NatjamConfiguration, count: int, law: str, ticks: int):
    expected = [reference_run(config, replication, law, ticks) for replication in range(count)]
    assert model_runs(config, count, law, ticks) == expected


@pytest.mark.parametrize("as_published", [False, True])
@pytest.mark.parametrize("policy", EVICTION_POLICIES)
@pytest.mark.parametrize(
    ("lengths", "overhead", "app_masters"), [(RISING, 1, 6), (FALLING, 0, 3), (FALLING, 0, 5)]
)
def test_published_scenarios_run_as_in_the_reference(
    lengths, overhead, app_masters, policy, as_published
):
    config = configuration(
        policy=policy,
        lengths=lengths,
        app_masters=app_masters,
        overhead=overhead,
        as_published=as_published,
    )
    assert_runs_are_the_same(config, 4, "rmc", 99)


@settings(max_examples=dear(60))
@given(
    config=st.builds(
        configuration,
        policy=st.sampled_from(sorted(EVICTION_POLICIES)),
        arrivals=st.sampled_from([ONE_JOB, UP_TO_THREE]),
        lengths=st.sampled_from([Nondet(minimum=1, maximum=6), RISING, FALLING]),
        app_masters=st.integers(1, 8),
        queue_size=st.sampled_from([1, 2, 4, 12]),
        epsilon=st.sampled_from([0.0, 0.5, 1.0, 1.5, 3.0]),
        high_priority=st.builds(
            HighPriority,
            probability=st.sampled_from([0, 10, 30, 50, 100]),
            length=st.sampled_from([0, 0, 1, 9]),
        ),
        overhead=st.integers(0, 3),
        as_published=st.booleans(),
        speeds=st.sampled_from([(), (2.0,), (1.0, 0.5), (0.75, 1.1, 3.0)]),
    ),
    law=st.sampled_from(["fair", "rmc"]),
)
def test_any_configuration_runs_as_in_the_reference(config, law):
    assert_runs_are_the_same(config, 2, law, 60)


def test_a_speed_of_one_changes_no_run():
    config = {"arrivals": UP_TO_THREE, "app_masters": 3, "overhead": 1}
    plain = model_runs(configuration(**config), 20, "fair", 99)
    assert model_runs(configuration(**config, speeds=(1.0,)), 20, "fair", 99) == plain


def busy_times(config: NatjamConfiguration, ticks: int) -> tuple[list[int], list[Event]]:
    """The busy times of the AppMasters in one run, and its messages."""
    names = busy_time_variables(config.app_masters)
    batch = run_batch(
        model_of(config),
        Observation("rm", names),
        key=KEY,
        replications=range(1),
        until=ticks - 1,
        trace=True,
    )
    return [int(batch.columns[name][0]) for name in names], batch.events[0]


@pytest.mark.parametrize(
    ("speed", "units"), [(3.0, 2), (2.5, 2), (2.0, 3), (1.0, 5), (0.76, 7), (0.75, 7), (0.7, 8)]
)
def test_a_job_occupies_an_app_master_as_long_as_its_speed_says(speed, units):
    # A job of 5 each 10 time units, ten of them; each has 10 time units.
    config = configuration(
        app_masters=1,
        arrivals=Bursty(size=1, interval=10),
        lengths=UniformLengths(length=5),
        speeds=(speed,),
        horizon=100,
    )
    assert busy_times(config, 100)[0] == [9 * units + min(units, 9)]
    (run,) = model_runs(config, 1, "fair", 100)
    done = run["research_completions"]
    assert done == 10
    assert run["margin"] == done * (10 - units)


@pytest.mark.parametrize("speeds", [(), (1.0, 0.5)])
def test_busy_times_are_those_of_the_units_worked_up_to_the_horizon(speeds):
    config = configuration(
        arrivals=UP_TO_THREE,
        app_masters=3,
        speeds=speeds,
        horizon=40,
        high_priority=HighPriority(probability=30),
    )
    times, events = busy_times(config, 60)
    assert any(event.server == "checkPoint" for event in events)
    # What is done in a time unit is noted at its end.
    worked = [event.rebec for event in events if event.server == "process" and event.time <= 40]
    assert times == [worked.count(name) for name in ("am1", "am2", "am3")]
    assert busy_times(config, 40)[0] == times


def test_every_counter_is_met_by_such_runs():
    config = configuration(
        policy="MLF",
        arrivals=UP_TO_THREE,
        queue_size=2,
        epsilon=0.5,
        overhead=2,
        app_masters=3,
        high_priority=HighPriority(probability=50),
    )
    runs = model_runs(config, 60, "fair", 99)
    assert_runs_are_the_same(config, 5, "fair", 99)
    assert [name for name in NATJAM_COUNTERS if not any(run[name] for run in runs)] == []


def test_the_variants_give_different_figures_for_the_same_jobs():
    config = {"lengths": FALLING, "app_masters": 4}
    ours = model_runs(configuration(**config), 60, "rmc", 99)
    published = model_runs(configuration(**config, as_published=True), 60, "rmc", 99)

    def more(name: str) -> int:
        return sum(run[name] for run in published) - sum(run[name] for run in ours)

    # New jobs get AppMasters that evicted ones, kept waiting, should have had.
    assert more("research_queue_misses") < 0
    assert more("research_job_misses") > 0


def test_jobs_that_never_meet_complete_with_the_margin_of_their_slack():
    config = configuration(
        app_masters=1, arrivals=Bursty(size=1, interval=10), lengths=UniformLengths(length=5)
    )
    (run,) = model_runs(config, 1, "fair", 99)
    # Jobs arrive at 0, 10, .., 90, run for 5 of the 10 time units they have from the next one on.
    expected = dict.fromkeys(NATJAM_COUNTERS, 0) | {
        "arrived": 10,
        "research_completions": 10,
        "margin": 50,
    }
    assert run == expected
