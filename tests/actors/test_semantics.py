"""Time, bags, deadlines and priorities, on models small enough to follow by hand."""

import pickle
import re

import pytest

from rebecsim.actors import (
    AssertionFailedError,
    DeadlineMissedError,
    Instance,
    Int,
    Interface,
    Model,
    ModelCodeError,
    ModelError,
    QueueOverflowError,
    Rebec,
    RebecNamed,
    alternatives,
    element,
    enabled,
    execute,
    known_rebec,
    message_server,
    next_time,
    ready,
    require,
    state_variable,
)


class Log(Rebec, queue_size=9):
    """Notes what it is told, and works for a while on each message."""

    work: int = state_variable(Int)
    notes: list[int] = state_variable(Int[4])
    count: int = state_variable(Int)

    def __init__(self, work: int = 0) -> None:
        self.work = work

    @message_server
    def note(self, value: int) -> None:
        self.notes[self.count] = value
        self.count += 1
        self.delay(self.work)

    @message_server(priority=1)
    def urgent(self, value: int) -> None:
        self.notes[self.count] = value
        self.count += 1


class Source(Rebec, queue_size=3):
    """Sends what the test wants when it goes."""

    log: Log = known_rebec()

    def __init__(self, act) -> None:
        self.act = act
        self.go()

    @message_server
    def go(self) -> None:
        self.act(self)


def system_of(act, work=0):
    model = Model(
        "test",
        (Instance("source", Source, ["log"], [act]), Instance("log", Log, [], [work])),
    )
    return model.start()


def serve(system, count=1):
    for _ in range(count):
        execute(system, enabled(system)[0])


def shown(messages):
    return [f"{message.arrival}:{message}" for message in messages]


def test_messages_wait_for_their_arrival_and_come_in_its_order():
    def act(source):
        source.log.note(1, after=5)
        source.log.note(2, after=2)

    system = system_of(act)
    serve(system)
    log = system.rebec("log")
    assert shown(log._bag) == ["2:note(2)", "5:note(1)"]
    assert ready(system) == (2, [log])
    serve(system, 2)
    assert log.notes == [2, 1, 0, 0]
    assert log.now == 5
    assert ready(system) == (0, [])
    assert enabled(system) == []


def test_equal_arrivals_are_a_bag_but_overdue_ones_come_oldest_first():
    def act(source):
        source.log.note(1, after=1)
        source.log.note(2, after=2)
        source.log.note(3, after=2)

    system = system_of(act, work=5)
    serve(system)
    log = system.rebec("log")
    assert shown(alternatives(log)) == ["1:note(1)"]
    serve(system)
    assert next_time(log) == 6
    assert shown(alternatives(log)) == ["2:note(2)", "2:note(3)"]


def test_a_message_server_priority_orders_equal_arrivals_only():
    def act(source):
        source.log.note(1)
        source.log.urgent(2)
        source.log.urgent(3, after=1)

    system = system_of(act)
    serve(system)
    assert shown(alternatives(system.rebec("log"))) == ["0:urgent(2)"]
    serve(system)
    assert shown(alternatives(system.rebec("log"))) == ["0:note(1)"]


def test_delay_moves_what_is_sent_after_it():
    def act(source):
        source.log.note(1)
        source.delay(3)
        source.log.note(2, after=1, deadline=4)

    system = system_of(act)
    serve(system)
    log = system.rebec("log")
    assert shown(log._bag) == ["0:note(1)", "4:note(2)"]
    assert [message.deadline for message in log._bag] == [None, 7]
    assert log.now == 0


def test_a_deadline_is_met_at_its_instant_and_missed_after_it():
    def act(source):
        source.log.note(1)
        source.log.note(2, after=1, deadline=limit)

    limit = 4
    system = system_of(act, work=4)
    serve(system, 3)
    assert system.rebec("log").count == 2

    limit = 3
    system = system_of(act, work=4)
    serve(system, 2)
    with pytest.raises(DeadlineMissedError, match=r"note\(2\) with deadline 3 .* time 4"):
        serve(system)


def test_the_message_being_served_keeps_its_place_in_the_queue():
    class Loop(Rebec, queue_size=1):
        def __init__(self) -> None:
            self.again()

        @message_server
        def again(self) -> None:
            self.again()

    system = Model("loop", (Instance("loop", Loop),)).start()
    with pytest.raises(QueueOverflowError, match=r"again\(\) in a queue of 1"):
        serve(system)


def test_rebec_priorities_and_global_priorities():
    class Worker(Rebec, queue_size=4):
        def __init__(self) -> None:
            self.low()
            self.high()

        @message_server(global_priority=2)
        def low(self) -> None: ...

        @message_server(priority=1, global_priority=1)
        def high(self) -> None: ...

    class Plain(Rebec, queue_size=1):
        def __init__(self) -> None:
            self.go()

        @message_server
        def go(self) -> None: ...

    plain = Model("p", (Instance("a", Plain, priority=2), Instance("b", Plain, priority=1))).start()
    assert [str(rebec) for rebec in ready(plain)[1]] == ["b"]
    assert [str(rebec) for rebec in ready(plain, priorities=False)[1]] == ["a", "b"]

    mixed = Model("g", (Instance("a", Plain, priority=1), Instance("b", Worker))).start()
    assert [str(step.message) for step in enabled(mixed)] == ["high()"]


def test_errors_of_a_handler_are_failed_assertions():
    texts = {
        lambda source: require(False, "wrong"): "^wrong$",
        lambda source: [0][element(3, 1, 7)]: r'out of bound: 3, method "source.go" line 7',
        lambda source: 1 // source.now: r'division.* method "source.go"',
        lambda source: source.log.note(1, after=-1): "is in the past",
        lambda source: source.delay(-1): "a delay of -1 time units; use 0 or more",
        lambda source: setattr(source, "log", None) or source.log.note(1): "message to null",
    }
    for act, text in texts.items():
        with pytest.raises(AssertionFailedError, match=text):
            serve(system_of(act))


def test_errors_of_python_name_rebec_message_and_place():
    with pytest.raises(ModelCodeError) as found:
        serve(system_of(lambda source: source.nothing))
    assert re.fullmatch(
        r"source, serving go\(\): AttributeError: .*no attribute 'nothing' \(.*semantics.py:\d+\)",
        str(found.value),
    )
    assert isinstance(found.value.__cause__, AttributeError)
    again = pickle.loads(pickle.dumps(found.value))
    assert (str(again), again.reason) == (str(found.value), found.value.reason)


def test_core_rebeca_serves_a_queue_in_order():
    class Sink(Rebec, queue_size=5):
        def __init__(self) -> None:
            self.put(1)
            self.put(2)

        @message_server
        def put(self, value: int) -> None: ...

    system = Model("core", (Instance("sink", Sink),), core=True).start()
    assert [str(step.message) for step in enabled(system)] == ["put(1)"]


def test_a_model_whose_parts_do_not_fit_is_refused():
    def act(source):
        pass

    with pytest.raises(ModelError, match=r"Source knows 1 rebecs \(log\), not 0"):
        Model("m", (Instance("source", Source, [], [act]),))
    with pytest.raises(ModelError, match="no rebec 'log'"):
        Model("m", (Instance("source", Source, ["log"], [act]),))
    with pytest.raises(ModelError, match="same name"):
        Model("m", (Instance("log", Log), Instance("log", Log)))


def test_constructors_choose_nothing_and_what_they_call_may_send_to_others():
    class Pushy(Rebec, queue_size=1):
        log: Log = known_rebec()

        def __init__(self, act) -> None:
            act(self)

    def model(act) -> Model:
        return Model("m", (Instance("p", Pushy, ["log"], [act]), Instance("log", Log)))

    with pytest.raises(ModelError, match="may not draw a choice"):
        model(lambda rebec: rebec.choose(1, 2)).start()
    system = model(lambda rebec: rebec.log.note(1)).start()
    assert [(str(step.message), step.message.sent_by) for step in enabled(system)] == [
        ("note(1)", "p")
    ]


class Greeter(Rebec, queue_size=2):
    names: list = state_variable(Int[1])

    @message_server
    def initial(self, number: int, other: Rebec) -> None:
        self.heard = [number, other, self.sender]


def test_initial_is_the_first_message_sent_by_nobody():
    model = Model(
        "m",
        (
            Instance("a", Greeter, arguments=[1, RebecNamed("b")]),
            Instance("b", Greeter, arguments=[2, RebecNamed("a")]),
        ),
    )
    system = model.start()
    first, second = enabled(system)
    assert [(each.message.sent_by, each.message.arrival) for each in (first, second)] == [
        ("main", 0),
        ("main", 0),
    ]
    assert first.message.sequence < second.message.sequence
    execute(system, second)
    assert system.rebec("b").heard == [2, system.rebec("a"), None]
    assert not hasattr(system.rebec("a"), "heard")


def test_a_class_has_a_constructor_or_initial():
    class Both(Greeter):
        def __init__(self) -> None:
            pass

    with pytest.raises(ModelError, match="Both has a message server `initial` and a constructor"):
        Model("m", (Instance("b", Both),))


def test_a_class_has_what_its_interfaces_promise():
    class Source(Interface):
        @message_server
        def ask(self) -> None: ...

    class Empty(Rebec, Source, queue_size=1):
        pass

    class Full(Empty):
        @message_server
        def ask(self) -> None: ...

    with pytest.raises(ModelError, match="Empty has no message server 'ask'"):
        Model("m", (Instance("e", Empty),))
    system = Model("m", (Instance("f", Full),)).start()
    assert isinstance(system.rebec("f"), Source)


def test_rebecs_may_be_constructor_arguments():
    class Holder(Rebec, queue_size=1):
        def __init__(self, other: Rebec) -> None:
            self.other = other

    model = Model("m", (Instance("h", Holder, [], [RebecNamed("log")]), Instance("log", Log)))
    system = model.start()
    assert system.rebec("h").other is system.rebec("log")


def test_what_a_handler_can_ask_of_its_message():
    def act(source):
        source.log.ask(after=2, deadline=9)

    class Asking(Log, queue_size=9):
        @message_server
        def ask(self) -> None:
            self.answers = (
                str(self.sender),
                self.now,
                self.current_message_arrival,
                self.current_message_deadline,
                self.current_message_waiting_time,
            )

    model = Model(
        "test", (Instance("source", Source, ["log"], [act]), Instance("log", Asking, [], [0]))
    )
    system = model.start()
    serve(system, 2)
    assert system.rebec("log").answers == ("source", 2, 2, 9, 0)


def test_message_servers_are_numbered_base_class_first_and_overriding_keeps_the_number():
    class Base(Rebec, queue_size=2):
        @message_server
        def first(self) -> None: ...

        @message_server
        def second(self) -> None: ...

    class Derived(Base):
        @message_server
        def third(self) -> None: ...

        @message_server
        def first(self) -> None: ...

    numbers = {name: server.number for name, server in Derived.__servers__.items()}
    assert numbers == {"first": 0, "second": 1, "third": 2}
    assert Derived.__queue_size__ == 2


class Desk(Rebec, queue_size=3):
    """Serves messages of one arrival and one priority, whose global priorities differ."""

    def __init__(self, *sent: str) -> None:
        for name in sent:
            getattr(self, name)()

    @message_server(global_priority=2)
    def fast(self) -> None: ...

    @message_server(global_priority=4)
    def slow(self) -> None: ...


class Other(Rebec, queue_size=2):
    def __init__(self) -> None:
        self.look()

    @message_server(global_priority=3)
    def look(self) -> None: ...


@pytest.mark.parametrize(
    ("sent", "first"),
    [
        (["slow"], "other"),
        (["fast"], "desk"),
        (["slow", "fast"], "desk"),
        (["fast", "slow"], "desk"),
    ],
)
def test_the_message_server_declared_first_decides_how_urgent_a_rebec_is(sent, first):
    system = Model("m", (Instance("desk", Desk, [], sent), Instance("other", Other))).start()
    assert [str(each) for each in ready(system)[1]] == [first]


def test_a_message_server_keeps_its_place_where_a_class_overrides_it():
    class Later(Desk):
        @message_server(global_priority=4)
        def slow(self) -> None: ...

        @message_server(global_priority=5)
        def fast(self) -> None: ...

    model = Model("m", (Instance("desk", Later, [], ["slow", "fast"]), Instance("other", Other)))
    assert [str(each) for each in ready(model.start())[1]] == ["other"]
