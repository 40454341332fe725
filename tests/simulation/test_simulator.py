"""How runs end, and what is noted of them."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from rebecsim.actors import (
    FifoScheduler,
    RandomScheduler,
    Recorder,
    ReplayError,
    ReplayScheduler,
    Run,
    Streams,
)
from rebecsim.generate import build_model, load_model
from rebecsim.lang import check_source
from rebecsim.simulation import Tracer, simulate

MODELS = Path(__file__).resolve().parents[2] / "models"

COUNTER = """
reactiveclass Counter(4) {
    statevars { int n; }
    Counter() { n = 0; self.count(); }
    msgsrv count() { n++; %s }
}
main { Counter counter():(); }
"""


def model_of(text, dialect="timed"):
    return build_model(check_source(text, "test.rebeca", dialect), "test.rebeca")


def random_scheduler(replication=0, law="fair"):
    return RandomScheduler(Streams((1, 2), replication), law)


@pytest.mark.parametrize(
    ("statements", "outcome", "detail", "steps", "time"),
    [
        ("self.count() after(2);", "time limit", "", 6, 10),
        ("if (n < 4) { self.count() after(2); }", "ended", "", 4, 6),
        ('assertion(n < 3, "three"); self.count() after(1);', "assertion failed", "three", 3, 2),
        ("self.count(); self.count();", "queue overflow", "count() in a queue of 4", 3, 0),
        ("delay(3); self.count() deadline(1); delay(2);", "deadline missed", "at time 5", 2, 5),
    ],
)
def test_outcomes(statements, outcome, detail, steps, time):
    result = simulate(model_of(COUNTER % statements), random_scheduler(), until=10)
    assert (result.outcome, result.steps, result.time) == (outcome, steps, time)
    assert detail in result.detail
    assert result.is_violation == (outcome not in ("time limit", "ended"))


def test_a_constructor_may_fail():
    text = COUNTER.replace("self.count();", "self.count(); " * 5) % ""
    result = simulate(model_of(text), random_scheduler())
    assert (result.outcome, result.steps, result.system) == ("queue overflow", 0, None)


def test_core_models_need_a_step_limit_and_get_it():
    model = model_of(COUNTER % "self.count();", "core")
    result = simulate(model, random_scheduler(), max_steps=50)
    assert (result.outcome, result.steps) == ("step limit", 50)


def test_a_message_at_the_limit_is_still_served():
    model = model_of(COUNTER % "self.count() after(5);")
    assert simulate(model, random_scheduler(), until=9).steps == 2
    assert simulate(model, random_scheduler(), until=10).steps == 3


def test_events_tell_what_happened():
    text = """
    reactiveclass Office(5) {
        statevars { int left; boolean[2] open; Person last; }
        Office() { left = 2; }
        msgsrv buy(Person who, int count) {
            last = who;
            delay(?(3, 4));
            left -= count;
            open[1] = true;
        }
    }
    reactiveclass Person(3) {
        knownrebecs { Office office; }
        Person() { self.go() after(1); }
        msgsrv go() { office.buy(self, 2) after(1) deadline(6); }
    }
    main { Office office():(); Person ann(office):(); }
    """
    tracer = Tracer()
    simulate(model_of(text), Recorder(FifoScheduler()), tracer=tracer)
    go, buy = tracer.events
    assert (go.time, go.rebec, go.server, go.sender, go.changed) == (1, "ann", "go", "ann", {})
    assert (buy.arrival, buy.deadline, buy.arguments) == (2, 7, ("ann", 2))
    assert (buy.time, buy.finished, buy.choices) == (2, 5, (0,))
    assert buy.changed == {"left": 0, "open": [False, True], "last": "ann"}
    assert buy.row(7)["changed"] == '{"left": 0, "open": [false, true], "last": "ann"}'


@pytest.mark.parametrize("law", ["fair", "rmc"])
@pytest.mark.parametrize("replication", range(10))
def test_the_hand_written_and_the_generated_model_run_alike(replication, law):
    """The same choices give the same trace, and the same seed the same choices."""
    hand, text = (
        load_model(MODELS / "ticket_service.py"),
        load_model(MODELS / "ticket_service.rebeca"),
    )
    traces, runs = [], []
    for model in (hand, text):
        scheduler, tracer = Recorder(random_scheduler(replication, law)), Tracer()
        result = simulate(model, scheduler, until=120, tracer=tracer)
        assert result.outcome == "time limit"
        traces.append(tracer.events)
        runs.append(scheduler.run)
    assert len(traces[0]) > 50
    assert traces[0] == traces[1]
    assert runs[0] == runs[1]
    tracer = Tracer()
    replayed = simulate(text, ReplayScheduler(runs[0]), tracer=tracer)
    assert replayed.outcome == "end of record"
    assert tracer.events == traces[0]


def test_a_run_survives_json_and_is_refused_where_it_does_not_fit():
    model = load_model(MODELS / "ticket_service.rebeca")
    recorder = Recorder(random_scheduler())
    simulate(model, recorder, until=30)
    run = Run.from_json(recorder.run.to_json())
    assert run == recorder.run
    limited = replace(run, until=30)
    assert Run.from_json(json.loads(json.dumps(limited.to_json()))) == limited

    other = model_of(COUNTER % "self.count() after(1);")
    with pytest.raises(ReplayError, match=r"choice 1: the record has a step of 2, the model a st"):
        simulate(other, ReplayScheduler(run))
    drawn = [choice.kind for choice in run.choices].index("value")
    short = Run(run.choices[:drawn])
    with pytest.raises(ReplayError, match=f"choice {drawn}: the record ends, but the model ch"):
        simulate(model, ReplayScheduler(short))
    for wrong in ([], {"priorities": True}, {"priorities": 1, "choices": []}):
        with pytest.raises(ReplayError, match="is an object with"):
            Run.from_json(wrong)
    for until in (-1, 2.5, "soon", True):
        with pytest.raises(ReplayError, match=r"`until`: must be a whole number, 0 or more"):
            Run.from_json({"priorities": True, "until": until, "choices": []})
    with pytest.raises(ReplayError, match=r"choice 0: \['step', 2, 2\]"):
        Run.from_json({"priorities": True, "choices": [["step", 2, 2]]})


def test_fifo_serves_in_the_order_of_sending():
    text = """
    reactiveclass Sink(9) {
        statevars { int log; }
        Sink() { log = 0; self.put(1); self.put(2) after(1); self.put(3); }
        msgsrv put(int v) { log = log * 10 + v; }
    }
    main { Sink sink():(); }
    """
    result = simulate(model_of(text), FifoScheduler())
    assert result.system.rebec("sink").log == 132


def test_random_order_is_a_random_permutation():
    """Messages of one arrival come in each of their orders equally often."""
    text = """
    reactiveclass Sink(9) {
        statevars { int log; }
        Sink() { log = 0; self.put(1); self.put(2); self.put(3); }
        msgsrv put(int v) { log = log * 10 + v; }
    }
    main { Sink sink():(); }
    """
    model = model_of(text)
    counts = {}
    for replication in range(1_500):
        log = simulate(model, random_scheduler(replication)).system.rebec("sink").log
        counts[log] = counts.get(log, 0) + 1
    assert len(counts) == 6
    assert all(abs(count - 250) < 4 * (250 * 5 / 6) ** 0.5 for count in counts.values())
