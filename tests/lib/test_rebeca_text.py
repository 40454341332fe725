"""The ready rebecs as Rebeca text: each does what the class of the same name in Python does."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

import rebecsim as rs
from rebecsim import lib
from rebecsim.interface.loading import as_loaded
from tests.lib.test_queues import Counting, Ear, Few

COUNTING = """
reactiveclass Counting implements Station(100) {
    statevars { int got; int at; }
    msgsrv arrive() { got++; at = now; }
}
"""
FEW = """
reactiveclass Few extends Source(2) {
    env distribution gap = uniform(3, 3);
    env int customers = 10;
}
"""
EAR = """
reactiveclass Ear implements Listener(5) {
    statevars { int heard; }
    msgsrv tick() { heard++; }
}
"""


class Room(lib.Server):
    service = rs.gamma(2, 4)
    servers = 2
    room = 1


class Onward(lib.Stage):
    service = rs.exponential(2)


class Levels(lib.PriorityServer):
    service = rs.normal(9, 3)


class Shared(lib.SharingServer):
    service = rs.exponential(9)


class Last(lib.LifoServer):
    service = rs.exponential(5)


class Lossy(lib.Link):
    latency = rs.uniform(1, 4)
    sending = rs.exponential(2)
    loss = 400


class Ticks(lib.Clock):
    period = rs.weibull(2, 7)


class Soon(lib.Timeout):
    span = rs.uniform(1, 9)


class User(rs.Rebec, queue_size=2):
    alarm: lib.Timeout = rs.known_rebec()

    def __init__(self) -> None:
        self.go(after=1)

    @rs.message_server
    def go(self) -> None:
        self.alarm.start()
        self.alarm.stop(after=6)
        self.go(after=8)


class Seen(lib.Replay):
    times = (4, 9, 9, 30)


class Small(lib.Store):
    capacity = 2
    first = 1


class Taker(rs.Rebec, lib.Client, queue_size=3):
    store: lib.Store = rs.known_rebec()
    at: int = rs.state_variable(rs.Int)

    def __init__(self) -> None:
        self.ask(after=1)

    @rs.message_server
    def ask(self) -> None:
        self.store.get(self)

    @rs.message_server
    def granted(self) -> None:
        self.at = self.now
        self.ask(after=self.choose(3, 9, site=1))


class Maker(rs.Rebec, queue_size=2):
    store: lib.Store = rs.known_rebec()

    def __init__(self) -> None:
        self.make(after=10)

    @rs.message_server
    def make(self) -> None:
        self.store.put()
        self.make(after=5)


I = rs.Instance  # noqa: E741


def _served(kind: type[rs.Rebec], file: str, constants: str) -> tuple[list[rs.Instance], str]:
    """Give few customers at a server, in Python and in Rebeca."""
    base = kind.__mro__[1].__name__
    text = f"""
    import "lib/{file}.rebeca";
    import "lib/source.rebeca";
    {FEW}
    reactiveclass {kind.__name__} extends {base}(100) {{ {constants} }}
    main {{ {kind.__name__} s():(); Few few(s):(); }}
    """
    return [I("s", kind), I("few", Few, knows=["s"])], text


_KNOWS_COUNTING = [I("few", Few, knows=["s"]), I("end", Counting)]
_ASKING = [I(name, Taker, knows=["store"]) for name in ("a", "b", "c")]
PARTS: dict[str, tuple[list[rs.Instance], str]] = {
    "Server": _served(
        Room,
        "server",
        "env distribution service = gamma(2, 4); env int servers = 2; env int room = 1;",
    ),
    "PriorityServer": _served(
        Levels, "priority_server", "env distribution service = normal(9, 3);"
    ),
    "SharingServer": _served(
        Shared, "sharing_server", "env distribution service = exponential(9);"
    ),
    "LifoServer": _served(Last, "lifo_server", "env distribution service = exponential(5);"),
    "Stage": (
        [I("s", Onward, knows=["end"]), *_KNOWS_COUNTING],
        f"""
        import "lib/server.rebeca";
        import "lib/source.rebeca";
        {COUNTING} {FEW}
        reactiveclass Onward extends Stage(100) {{ env distribution service = exponential(2); }}
        main {{ Onward s(end):(); Few few(s):(); Counting end():(); }}
        """,
    ),
    "Link": (
        [I("s", Lossy, knows=["end"]), *_KNOWS_COUNTING],
        f"""
        import "lib/link.rebeca";
        import "lib/source.rebeca";
        {COUNTING} {FEW}
        reactiveclass Lossy extends Link(100) {{
            env distribution latency = uniform(1, 4);
            env distribution sending = exponential(2);
            env int loss = 400;
        }}
        main {{ Lossy s(end):(); Few few(s):(); Counting end():(); }}
        """,
    ),
    "Balancer": (
        [I("s", lib.Balancer, knows=["end", "sink"]), *_KNOWS_COUNTING, I("sink", lib.Sink)],
        f"""
        import "lib/balancer.rebeca";
        import "lib/sink.rebeca";
        import "lib/source.rebeca";
        {COUNTING} {FEW}
        main {{ Balancer s(end, sink):(); Few few(s):(); Counting end():(); Sink sink():(); }}
        """,
    ),
    "Replay": (
        [I("trace", Seen, knows=["end"]), I("end", Counting)],
        f"""
        import "lib/replay.rebeca";
        env int[4] TIMES = {{4, 9, 9, 30}};
        {COUNTING}
        reactiveclass Seen extends Replay(2) {{
            env int customers = 4;
            int time(int number) {{ return TIMES[number]; }}
        }}
        main {{ Seen trace(end):(); Counting end():(); }}
        """,
    ),
    "Clock": (
        [I("clock", Ticks, knows=["ear"]), I("ear", Ear)],
        f"""
        import "lib/clock.rebeca";
        {EAR}
        reactiveclass Ticks extends Clock(2) {{ env distribution period = weibull(2, 7); }}
        main {{ Ticks clock(ear):(); Ear ear():(); }}
        """,
    ),
    "Timeout": (
        [I("user", User, knows=["alarm"]), I("alarm", Soon, knows=["ear"]), I("ear", Ear)],
        f"""
        import "lib/timeout.rebeca";
        {EAR}
        reactiveclass Soon extends Timeout(20) {{ env distribution span = uniform(1, 9); }}
        reactiveclass User(2) {{
            knownrebecs {{ Timeout alarm; }}
            User() {{ self.go() after(1); }}
            msgsrv go() {{ alarm.start(); alarm.stop() after(6); self.go() after(8); }}
        }}
        main {{ User user(alarm):(); Soon alarm(ear):(); Ear ear():(); }}
        """,
    ),
    "Store": (
        [I("store", Small), I("maker", Maker, knows=["store"]), *_ASKING],
        """
        import "lib/store.rebeca";
        reactiveclass Small extends Store(100) {
            env int capacity = 2;
            Small(int first) { super(first); }
        }
        reactiveclass Maker(2) {
            knownrebecs { Store store; }
            Maker() { self.make() after(10); }
            msgsrv make() { store.put(); self.make() after(5); }
        }
        reactiveclass Taker implements Client(3) {
            knownrebecs { Store store; }
            statevars { int at; }
            Taker() { self.ask() after(1); }
            msgsrv ask() { store.get(self); }
            msgsrv granted() { at = now; self.ask() after(?(3, 9)); }
        }
        main {
            Small store():(1);
            Maker maker(store):();
            Taker a(store):(); Taker b(store):(); Taker c(store):();
        }
        """,
    ),
}
"""The parts by name: rebecs in Python, and the same ones in Rebeca."""


@pytest.mark.parametrize("part", PARTS)
def test_text_does_what_python_does(part: str) -> None:
    instances, text = PARTS[part]
    in_python, in_text = rs.Model("m", instances), rs.loads(text)
    for seed in (1, 2):
        found = [
            rs.simulate(model, until=60, seed=seed, engine=engine).state
            for model in (in_python, in_text)
            for engine in ("python", "native")
        ]
        assert all(_plain(each) == _plain(found[0]) for each in found)


def _plain(state: dict[str, Any]) -> dict[str, Any]:
    """Give a state without a variable that only Python has."""
    return {
        name: {each: value for each, value in values.items() if each != "lost"}
        for name, values in state.items()
    }


@pytest.mark.parametrize("part", PARTS)
def test_python_that_inherits_a_constructor_is_written_as_rebeca(part: str) -> None:
    model = rs.Model("m", PARTS[part][0])
    loaded = as_loaded(model)
    assert loaded.checked is not None, loaded.against
    assert (loaded.no_text, loaded.checked.lacks) == ("", "")
    written = rs.loads(loaded.rebeca())
    if part in ("Balancer", "Replay", "Store"):  # others draw in several places, each for itself
        assert (
            rs.simulate(written, until=60, seed=1).state
            == rs.simulate(model, until=60, seed=1).state
        )


@pytest.mark.parametrize("part", ["Balancer", "Replay"])
def test_text_has_as_many_states_as_python(part: str) -> None:
    instances, text = PARTS[part]
    found = [rs.explore(model) for model in (rs.Model("m", instances), rs.loads(text))]
    assert found[0].states == found[1].states
    assert found[0].transitions == found[1].transitions


def test_named_distributions_are_measured_as_in_python() -> None:
    instances, text = PARTS["Server"]
    times: dict[str, Any] = {"until": 500, "runs": 3, "seed": 4, "warm_up": 0}
    found = [
        str(rs.measure(model, ["s", "few.emit"], **times))
        for model in (rs.Model("m", instances), rs.loads(text))
    ]
    assert found[0] == found[1]


@given(
    servers=st.integers(1, 3),
    room=st.integers(0, 3),
    gap=st.integers(0, 3),
    service=st.integers(1, 5),
    customers=st.integers(1, 6),
)
def test_no_customer_is_lost(
    servers: int, room: int, gap: int, service: int, customers: int
) -> None:
    text = f"""
    import "lib/server.rebeca";
    import "lib/source.rebeca";
    reactiveclass Few extends Source(2) {{
        env distribution gap = uniform(0, {gap});
        env int customers = {customers};
    }}
    reactiveclass Desk extends Server(100) {{
        env distribution service = uniform({service}, {service});
        env int servers = {servers};
        env int room = {room};
        statevars {{ int left; int refused; }}
        void leave() {{ left++; }}
        void refuse() {{ refused++; }}
    }}
    main {{ Desk desk():(); Few few(desk):(); }}
    """
    inside = f"desk.busy <= {servers} && desk.waiting <= {room}"
    counted = "desk.busy + desk.waiting + desk.left + desk.refused <= few.sent"
    idle = f"(desk.waiting == 0 || desk.busy == {servers})"
    found = rs.explore(rs.loads(text), invariants=f"{inside} && {counted} && {idle}")
    assert found.verdict == "satisfied"
    ended = rs.simulate(rs.loads(text), until=99, seed=1, engine="python").state
    assert int(str(ended["desk"]["left"])) + int(str(ended["desk"]["refused"])) == customers
