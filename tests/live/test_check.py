"""A run that was tampered with is refused, whatever was changed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from rebecsim.actors import Recorder, ReplayError, ReplayScheduler
from rebecsim.generate import load_model
from rebecsim.live import (
    Ending,
    LiveLimits,
    Log,
    NotAllowedError,
    check_log,
    lateness,
    load_log,
    run_live,
    save_log,
)
from rebecsim.simulation import Tracer, simulate, state_of
from tests.live.models import writers

MODEL = load_model(Path(__file__).resolve().parents[2] / "models/ticket_service.rebeca")
LOG = run_live(MODEL, LiveLimits(until=20), seed=2).log


def with_event(log: Log, place: int, **changes: object) -> Log:
    served = list(log.served)
    served[place] = replace(served[place], event=replace(served[place].event, **changes))
    return replace(log, served=tuple(served))


def test_the_run_itself_is_accepted_and_simulation_does_the_same() -> None:
    checked = check_log(MODEL, LOG)
    tracer = Tracer()
    again = simulate(MODEL, Recorder(ReplayScheduler(checked.run)), tracer=tracer)
    assert again.outcome == "end of record"
    assert [replace(each.event, step=0) for each in LOG.served] == [
        replace(each, step=0, arguments=tuple(map(str_of_rebec, each.arguments)))
        for each in tracer.events
    ]
    for mine, theirs in zip(checked.system.rebecs, again.system.rebecs, strict=True):
        assert state_of(mine) == state_of(theirs)


def str_of_rebec(value: object) -> object:
    return value if isinstance(value, bool | int) else str(value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rebec": "bob"}, "not enabled"),
        ({"server": "ticket"}, "not enabled"),
        ({"sender": "office"}, "not enabled"),
        ({"arguments": (1,)}, "not enabled"),
        ({"arrival": 3}, "not enabled"),
        ({"deadline": 3}, "not enabled"),
        ({"time": 3}, "`time` is 3 in the log, 0 by the model"),
        ({"finished": 3}, "`finished`"),
        ({"changed": {"asking": False}}, "`changed`"),
        ({"choices": (0,)}, "`choices`"),
        ({"rebec": "nobody"}, "not enabled"),
    ],
)
def test_a_changed_message_is_refused(changes, message) -> None:
    with pytest.raises(NotAllowedError, match=message):
        check_log(MODEL, with_event(LOG, 0, **changes))


def test_sent_messages_are_compared() -> None:
    first = LOG.served[0]
    for sent in ((), (replace(first.sent[0], arrival=9),), (*first.sent, *first.sent)):
        forged = replace(LOG, served=(replace(first, sent=sent), *LOG.served[1:]))
        with pytest.raises(NotAllowedError, match="`sent`"):
            check_log(MODEL, forged)


def test_other_choices_than_the_model_has_are_refused() -> None:
    place = next(n for n, each in enumerate(LOG.served) if each.event.choices)
    for choices in ((), (5,), (*LOG.served[place].event.choices, 0)):
        with pytest.raises(NotAllowedError):
            check_log(MODEL, with_event(LOG, place, choices=choices))


@settings(max_examples=40)
@given(st.data())
def test_a_message_left_out_or_served_twice_or_earlier_is_refused(data: st.DataObject) -> None:
    served = LOG.served
    place = data.draw(st.integers(0, len(served) - 2))
    how = data.draw(st.sampled_from(["left out", "twice", "swapped"]))
    if how == "left out":
        forged = served[:place] + served[place + 1 :]
    elif how == "twice":
        forged = (*served[: place + 1], *served[place:])
    else:
        later = next(
            (
                n
                for n in range(place + 1, len(served))
                if served[n].event.time > served[place].event.time
            ),
            None,
        )
        if later is None:
            return
        forged = (*served[:place], served[later], *served[place:later], *served[later + 1 :])
    with pytest.raises(NotAllowedError):
        check_log(MODEL, replace(LOG, served=tuple(forged)))


@pytest.mark.parametrize(
    ("ending", "message"),
    [
        (Ending("ended"), "there are messages"),
        (Ending("step limit"), "the limit is None"),
        (Ending("queue overflow", "no place"), "no violation"),
        (Ending("failed", "KeyError", "ann", "nothing()"), "may not serve"),
    ],
)
def test_a_run_that_ends_otherwise_is_refused(ending, message) -> None:
    with pytest.raises(NotAllowedError, match=message):
        check_log(MODEL, replace(LOG, ending=ending))


def test_a_run_cut_short_is_refused() -> None:
    with pytest.raises(NotAllowedError, match="can be served at time"):
        check_log(MODEL, replace(LOG, served=LOG.served[:-5]))


def test_a_run_of_another_model_is_refused() -> None:
    with pytest.raises(NotAllowedError, match="not writers"):
        check_log(writers(2), LOG)
    with pytest.raises(NotAllowedError):
        check_log(writers(2), replace(LOG, model="writers"))


def test_rebecs_that_share_what_they_should_not_are_found_out() -> None:
    """The check is one of the model too: here the rebecs write into the same list."""
    from rebecsim.actors import Instance, Int, Model, Rebec, message_server, state_variable

    shared: list[int] = []

    class Leaky(Rebec, queue_size=2):
        seen: int = state_variable(Int)

        def __init__(self) -> None:
            self.look()

        @message_server
        def look(self) -> None:
            shared.append(1)
            self.seen = len(shared)

    model = Model("leaky", (Instance("a", Leaky), Instance("b", Leaky)))
    run = run_live(model)
    with pytest.raises(NotAllowedError, match="`changed`"):
        check_log(model, run.log)


# --- files ---------------------------------------------------------------------------------------


def test_a_log_survives_a_file(tmp_path) -> None:
    file = tmp_path / "run.json"
    save_log(file, LOG, check_log(MODEL, LOG).run.to_json())
    again = load_log(file)
    assert again == LOG
    check_log(MODEL, again)
    assert [each.name for each in tmp_path.iterdir()] == ["run.json"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data.pop("served"), "is an object with"),
        (lambda data: data.update(format="x"), "`format` is 'x'"),
        (lambda data: data.update(core=1), "the run: `core` cannot be 1"),
        (lambda data: data["served"][2].pop("time"), "message 3: `time` is missing"),
        (lambda data: data["served"][2].update(time="0"), "message 3: `time` cannot be '0'"),
        (lambda data: data["served"][2].update(choices=[-1]), "message 3: `choices`"),
        (lambda data: data["served"][0]["sent"][0].update(arrival=None), "message 1, `sent`"),
        (lambda data: data["served"].insert(0, 7), "message 1: is not an object"),
        (lambda data: data["ending"].update(outcome="fine"), "no outcome 'fine'"),
    ],
)
def test_a_file_that_is_no_log_is_refused_with_its_place(change, message, tmp_path) -> None:
    file = tmp_path / "run.json"
    save_log(file, LOG, {})
    data = json.loads(file.read_text())
    change(data)
    file.write_text(json.dumps(data))
    with pytest.raises(ReplayError, match=message) as refused:
        load_log(file)
    assert str(file) in str(refused.value)


def test_a_file_that_is_not_json_or_not_there_is_refused(tmp_path) -> None:
    with pytest.raises(ReplayError, match="No such file"):
        load_log(tmp_path / "nothing.json")
    (tmp_path / "text.json").write_text("[")
    with pytest.raises(ReplayError, match="is not JSON"):
        load_log(tmp_path / "text.json")


# --- lateness ------------------------------------------------------------------------------------


def test_lateness_beyond_the_tolerance_is_reported() -> None:
    assert lateness(LOG, 0.1) is None  # virtual time is never late
    place = next(n for n, each in enumerate(LOG.served) if each.event.deadline is not None)
    served = list(LOG.served)
    served[place] = replace(served[place], late=5.0)
    served[0] = replace(served[0], late=0.05)
    found = lateness(replace(LOG, speed=10.0, served=tuple(served)), 0.1)
    assert found is not None
    assert found.worst == 5.0
    assert found.late == (served[place],)
    assert found.missed == (served[place],)


def test_a_slow_message_server_makes_the_next_ones_late() -> None:
    import time

    from rebecsim.actors import Instance, Model, Rebec, message_server

    class Slow(Rebec, queue_size=3):
        def __init__(self) -> None:
            self.work()
            self.work(after=1)

        @message_server
        def work(self) -> None:
            time.sleep(0.2)

    model = Model("slow", (Instance("slow", Slow),))
    run = run_live(model, LiveLimits(speed=100))
    found = lateness(run.log, 0.1)
    assert found is not None
    assert [each.event.time for each in found.late] == [1]
    assert 0.15 < found.worst < 5
    check_log(model, run.log)
