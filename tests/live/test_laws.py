"""Whatever a model does, every live run of it is a run of the semantics."""

from __future__ import annotations

from hypothesis import given, settings, strategies as st

from rebecsim.actors import Instance, Int, Model, Rebec, known_rebec, message_server, state_variable
from rebecsim.live import LiveLimits, check_log, run_live
from tests.examples import dear

NAMES = ("a", "b", "c")

ACTIONS = st.one_of(
    st.tuples(
        st.just("send"),
        st.sampled_from(NAMES),
        st.sampled_from(["ping", "pong"]),
        st.integers(0, 2),
        st.sampled_from([None, None, None, 4]),
    ),
    st.tuples(st.just("delay"), st.integers(0, 2)),
    st.tuples(st.just("choose"), st.integers(2, 3)),
)
SCRIPTS = st.fixed_dictionaries(
    {(name, server): st.lists(ACTIONS, max_size=4) for name in NAMES for server in ("ping", "pong")}
)


def model_of(script, queue: int, urgent: int | None, priorities: tuple[int, ...]) -> Model:
    """Three rebecs that know each other and do what a script says when they get a message."""

    class Node(Rebec, queue_size=queue):
        a: Node = known_rebec()
        b: Node = known_rebec()
        c: Node = known_rebec()
        state: int = state_variable(Int)

        def __init__(self) -> None:
            self.ping()

        @message_server(priority=urgent)
        def ping(self) -> None:
            self.act("ping")

        @message_server
        def pong(self) -> None:
            self.act("pong")

        def act(self, server: str) -> None:
            for action in script[str(self), server]:
                match action:
                    case "send", to, what, after, deadline:
                        getattr(getattr(self, to), what)(after=after, deadline=deadline)
                    case "delay", units:
                        self.delay(units)
                    case "choose", count:
                        self.state = (3 * self.state + self.choose(*range(count))) % 101

    return Model(
        "script",
        tuple(
            Instance(name, Node, NAMES, (), priority)
            for name, priority in zip(NAMES, priorities, strict=True)
        ),
    )


@settings(max_examples=dear(150))
@given(
    script=SCRIPTS,
    queue=st.integers(1, 5),
    urgent=st.sampled_from([None, None, 1]),
    priorities=st.sampled_from([(1, 1, 1), (1, 1, 1), (1, 2, 2)]),
    seed=st.integers(0, 2**32),
)
def test_every_live_run_is_accepted(script, queue, urgent, priorities, seed) -> None:
    model = model_of(script, queue, urgent, priorities)
    run = run_live(model, LiveLimits(until=12, steps=120), seed=seed)
    assert run.log.ending.outcome in (
        "time limit",
        "step limit",
        "ended",
        "queue overflow",
        "deadline missed",
    )
    assert run.unstopped == ()
    check_log(model, run.log)
