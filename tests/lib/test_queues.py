"""Ready rebecs and what is measured of them, against formulas and by hand."""

from __future__ import annotations

import numpy as np
import pytest

import rebecsim as rs
from rebecsim import lib
from rebecsim.simulation.measuring import Course, measures, warm_ups
from tests.lib.queues import GAP, WAITS, One, Three, covered, queue


@pytest.mark.parametrize("name", WAITS)
def test_waits_are_those_of_the_formula(name: str) -> None:
    assert covered(name, range(5), 0.99) >= 4


@pytest.mark.slow
@pytest.mark.parametrize("name", WAITS)
def test_intervals_cover_the_formula_as_often_as_they_say(name: str) -> None:
    # Two standard errors of 400 seeds are 9; of 1,000 seeds, 941 (tandem) to 958 were counted.
    assert covered(name, range(400)) >= 370
    assert covered(name, range(100), 0.99) >= 95


def test_both_engines_measure_the_same() -> None:
    model = queue(One)
    of = ["s", "s.arrive", "source.emit"]
    one, other = (
        rs.measure(model, of, until=60 * GAP, runs=2, seed=3, warm_up=GAP, engine=engine)
        for engine in ("python", "native")
    )
    assert one == other
    assert one["s"]["throughput"].value == pytest.approx(1 / GAP, rel=0.3)
    assert one["s.arrive"]["wait"].value == 0
    assert str(one).splitlines()[0] == "Runs: 2. Left out as warm-up: up to time 1,000."


def test_runs_observe_the_same_measures() -> None:
    model, times = queue(Three), {"runs": 3, "until": 60 * GAP, "seed": 4}
    observe = ["measure=s", "measure=source.emit"]
    many = rs.run(model, observe=observe, progress=False, **times)  # type: ignore[arg-type]
    found = [each.value for each in many.summary.rows[0].estimates]
    wanted = rs.measure(model, ["s", "source.emit"], warm_up=0, **times)  # type: ignore[arg-type]
    by_hand = [each.value for of in ("s", "source.emit") for each in wanted[of].values()]
    # Of waits and service times, `measure` takes away most of the bias of a ratio.
    assert found == pytest.approx(by_hand, rel=0.1)
    assert [found[at] for at in (2, 3, 4)] == pytest.approx([by_hand[at] for at in (2, 3, 4)])
    assert found[2] == pytest.approx(found[0] * found[4])  # Little's law
    names = [each.name for each in many.summary.metrics]
    assert names[:5] == [f"measure_s_{name}" for name in wanted["s"]]


def test_a_message_server_that_delays_is_a_server() -> None:
    text = """
    reactiveclass Office(3) { msgsrv buy() { delay(2); } }
    reactiveclass Buyer(2) {
        knownrebecs { Office office; }
        Buyer() { self.go(); }
        msgsrv go() { office.buy(); office.buy(); self.go() after(10); }
    }
    main { Office office():(); Buyer buyer(office):(); }
    """
    found = rs.measure(rs.loads(text), "office.buy", until=100, runs=1, warm_up=0)["office.buy"]
    # Two come every ten units; the second waits for two. Of the last ones, none is served in time.
    assert {name: each.value for name, each in found.items()} == {
        "wait": pytest.approx(1, abs=0.1),
        "service": pytest.approx(2, abs=0.1),
        "queue": pytest.approx(0.2, abs=0.02),
        "utilisation": pytest.approx(0.4, abs=0.04),
        "throughput": pytest.approx(0.2, abs=0.02),
    }


def test_areas_and_warm_up_by_hand() -> None:
    course = Course.of_messages(np.array([[0, 0, 4], [1, 4, 6], [2, 6, 7]]))
    times = np.array([0.0, 5.0, 10.0])
    waiting, busy, ended = np.diff(course.until(times))
    assert (waiting.tolist(), busy.tolist(), ended.tolist()) == ([6, 1], [5, 2], [1, 2])
    above, below = measures(course.until(times), times, 1)[:, :, 1]
    assert (above / below).tolist() == [0.5, 1, 0.2, 0.4, 0.4]
    assert course.until(np.array([1e6]))[0, 0] == 7
    slow = np.repeat([[0, 0, 300]], 40, axis=0)  # forty at first, then one after the other
    steady = np.array([[at, at, at + 10] for at in range(0, 1000, 10)])
    both = Course.of_messages(np.concatenate([slow, steady]))
    assert warm_ups([[both]], 1000) == [300]
    even = Course.of_messages(steady)
    assert warm_ups([[even]], 1000) == [100]
    # How long a run is warm is seen in the others, and the longest of its courses counts.
    assert warm_ups([[both], [even]], 1000) == [100, 300]
    assert warm_ups([[even, both], [even, both]], 1000) == [300, 300]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"servers": "t"}, "there is no rebec 't'; known are s, source"),
        ({"servers": "s.go"}, "s.go: name a message server: arrive, done, or a rebec"),
        ({"servers": "source"}, "source: name a message server: begin, emit, or a rebec"),
        ({"servers": "s", "warm_up": 99}, "warm_up: it must be from 0 to below 99, not 99"),
        ({"servers": "s", "runs": 0}, "runs: it must be at least 1, not 0"),
        ({"servers": "s", "level": 95}, "level: must be between 0 and 1"),
        ({"servers": ()}, "servers: name at least one message server or rebec"),
    ],
)
def test_what_cannot_be_measured(given: dict[str, object], message: str) -> None:
    with pytest.raises(rs.UserError, match=message):
        rs.measure(queue(One), until=99, **given)  # type: ignore[arg-type]


def test_a_run_that_goes_wrong_is_not_measured() -> None:
    class Narrow(lib.Sink, queue_size=1):
        @rs.message_server
        def arrive(self) -> None:
            self.delay(100)

    class Often(lib.Source):
        gap = rs.uniform(1, 1)

    wrong = rs.Model("w", (rs.Instance("s", Narrow), rs.Instance("o", Often, knows=["s"])))
    for engine in ("python", "native"):
        with pytest.raises(rs.UserError, match="run 0: queue overflow"):
            rs.measure(wrong, "s.arrive", until=99, engine=engine)


# --- the ready rebecs -----------------------------------------------------------------------------


class Counting(lib.Sink):
    got: int = rs.state_variable(rs.Int)
    at: int = rs.state_variable(rs.Int)

    @rs.message_server
    def arrive(self) -> None:
        self.got += 1
        self.at = self.now


class Ear(rs.Rebec, lib.Listener, queue_size=5):
    heard: int = rs.state_variable(rs.Int)

    @rs.message_server
    def tick(self) -> None:
        self.heard += 1


class Few(lib.Source):
    gap = rs.uniform(3, 3)
    customers = 10


class Lossy(lib.Link):
    loss = 500


def after(instances: list[rs.Instance], until: int = 200) -> dict[str, dict[str, object]]:
    """Give the variables of all rebecs at the end of a run, which engines agree on."""
    model = rs.Model("m", instances)
    found = [
        rs.simulate(model, until=until, seed=1, engine=engine).state
        for engine in ("python", "native")
    ]
    assert found[0] == found[1]
    return found[0]


def test_a_source_stops_and_a_balancer_takes_turns() -> None:
    state = after(
        [
            rs.Instance("one", Counting),
            rs.Instance("two", Counting),
            rs.Instance("balancer", lib.Balancer, knows=["one", "two"]),
            rs.Instance("source", Few, knows=["balancer"]),
        ]
    )
    assert (state["one"]["got"], state["two"]["got"], state["two"]["at"]) == (5, 5, 30)


def test_a_trace_is_replayed() -> None:
    class Seen(lib.Replay):
        times = (4, 9, 9, 30)

    rebecs = [rs.Instance("end", Counting), rs.Instance("trace", Seen, knows=["end"])]
    assert [after(rebecs, until)["end"]["got"] for until in (3, 4, 9, 29, 99)] == [0, 1, 3, 3, 4]


def test_a_shared_server_slows_down() -> None:
    class Ten(lib.SharingServer):
        service = rs.uniform(10, 10)

    class Two(lib.Replay):
        times = (0, 5)

    rebecs = [rs.Instance("s", Ten), rs.Instance("trace", Two, knows=["s"])]
    # Alone until 5, shared until 15, when the first one is done; then 5 are left of the second.
    counts = [
        (after(rebecs, until)["s"]["waiting"], after(rebecs, until)["s"]["busy"])
        for until in (4, 14, 15, 19, 20)
    ]
    assert counts == [(0, 1), (1, 1), (0, 1), (0, 1), (0, 0)]


def test_the_last_is_served_first_and_the_others_go_on() -> None:
    class Ten(lib.LifoServer):
        service = rs.uniform(10, 10)

    class Three(lib.Replay):
        times = (0, 4, 6)

    rebecs = [rs.Instance("s", Ten), rs.Instance("trace", Three, knows=["s"])]
    # The third is done at 16, the second, of which 8 are left, at 24, the first, of which 6, at 30.
    counts = [
        (after(rebecs, until)["s"]["waiting"], after(rebecs, until)["s"]["busy"])
        for until in (3, 5, 15, 16, 23, 24, 29, 30)
    ]
    assert counts == [(0, 1), (1, 1), (2, 1), (1, 1), (1, 1), (0, 1), (0, 1), (0, 0)]


def test_races_and_rare_events_say_which_values_stood_for_distributions() -> None:
    class Room(lib.Server):
        service = rs.exponential(7)
        room = 2

    class Few(lib.Source):
        gap = rs.uniform(3, 3)
        customers = 4

    model = rs.Model("q", (rs.Instance("s", Room), rs.Instance("o", Few, knows=["s"])))
    cut = ["Of exponential(7), its 10, 30, 50, 70 and 90 % quantiles were tried: 1, 2, 5, 8, 16."]
    splits = {"split": "s.waiting", "at": [1], "reach": "s.waiting == 2"}
    rare = rs.rare(model, until=30, **splits, repeat=2, per_level=9)  # type: ignore[arg-type]
    for found in (rs.races(model), rs.explore(model), rare):
        assert found.to_json()["cut"] == cut
        assert cut[0] in " ".join(str(found).split())


def test_a_link_takes_its_time_and_loses_some() -> None:
    def links(kind: type[lib.Link]) -> list[rs.Instance]:
        return [
            rs.Instance("end", Counting),
            rs.Instance("link", kind, knows=["end"]),
            rs.Instance("source", Few, knows=["link"]),
        ]

    assert after(links(lib.Link))["end"] == {"got": 10, "at": 30 + 1 + 5}
    assert 0 < int(str(after(links(Lossy))["end"]["got"])) < 10


def test_clocks_ring_and_timeouts_are_forgotten() -> None:
    class User(rs.Rebec, queue_size=2):
        alarm: lib.Timeout = rs.known_rebec()

        def __init__(self) -> None:
            self.go()

        @rs.message_server
        def go(self) -> None:
            self.alarm.start()
            self.alarm.start(after=3)
            self.alarm.start(after=50)
            self.alarm.stop(after=55)

    state = after(
        [
            rs.Instance("ear", Ear),
            rs.Instance("other", Ear),
            rs.Instance("clock", lib.Clock, knows=["ear"]),
            rs.Instance("alarm", lib.Timeout, knows=["other"]),
            rs.Instance("user", User, knows=["alarm"]),
        ],
        until=100,
    )
    assert (state["ear"]["heard"], state["other"]["heard"]) == (10, 1)


def test_a_store_serves_in_the_order_of_asking() -> None:
    class Taker(rs.Rebec, lib.Client, queue_size=3):
        store: lib.Store = rs.known_rebec()
        at: int = rs.state_variable(rs.Int)

        def __init__(self, start: int) -> None:
            self.ask(after=start)

        @rs.message_server
        def ask(self) -> None:
            self.store.get(self)

        @rs.message_server
        def granted(self) -> None:
            self.at = self.now

    class Maker(rs.Rebec, queue_size=2):
        store: lib.Store = rs.known_rebec()

        def __init__(self) -> None:
            self.make(after=10)

        @rs.message_server
        def make(self) -> None:
            self.store.put()
            self.make(after=10)

    class Small(lib.Store):
        capacity = 2
        first = 1

    state = after(
        [
            rs.Instance("store", Small),
            rs.Instance("maker", Maker, knows=["store"]),
            *(rs.Instance(f"t{at}", Taker, knows=["store"], arguments=[at]) for at in (1, 2, 3)),
        ],
        until=100,
    )
    assert [state[f"t{at}"]["at"] for at in (1, 2, 3)] == [1, 10, 20]
    assert state["store"]["level"] == 2


def test_lower_levels_are_served_first() -> None:
    class Desk(lib.PriorityServer):
        service = rs.uniform(10, 10)

    class Caller(rs.Rebec, queue_size=2):
        desk: Desk = rs.known_rebec()

        def __init__(self) -> None:
            self.go()

        @rs.message_server
        def go(self) -> None:
            self.desk.arrive_at(3)
            self.desk.arrive_at(2, after=1)
            self.desk.arrive(after=2)

    rebecs = [rs.Instance("desk", Desk), rs.Instance("caller", Caller, knows=["desk"])]
    levels = [after(rebecs, until)["desk"]["levels"] for until in (5, 15, 25)]
    assert levels == [[1, 0, 1, 0], [0, 0, 1, 0], [0, 0, 0, 0]]


def test_a_queue_with_little_room_is_explored() -> None:
    class Room(lib.Server):
        service = rs.uniform(1, 3)
        room = 2

    class Source(lib.Source):
        gap = rs.uniform(1, 2)

    model = rs.Model("q", (rs.Instance("s", Room), rs.Instance("o", Source, knows=["s"])))
    counts = {
        engine: rs.explore(model, invariants="s.waiting <= 2", engine=engine)
        for engine in ("python", "native")
    }
    assert {each.verdict for each in counts.values()} == {"satisfied"}
    assert len({each.states for each in counts.values()}) == 1
    assert rs.explore(model, invariants="s.waiting < 2").verdict == "property violated"
