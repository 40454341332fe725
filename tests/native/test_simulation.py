"""The native engine gives what the Python engine gives, bit for bit.

`make test-plain` runs all of this as plain Python, with many more random models than can be
compiled in a test.
"""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, note, settings, strategies as st

from rebecsim.actors import Streams
from rebecsim.clusters.dispatch.scenario import Scenario
from rebecsim.clusters.scenarios import plan_scenario
from rebecsim.generate import NotNativeError, build_model, step_source
from rebecsim.lang import check_file, check_source
from rebecsim.native import is_plain, native_model
from rebecsim.simulation import (
    FIFO,
    OUTCOMES,
    RANDOM,
    EngineError,
    MessageOrder,
    Observation,
    Tracer,
    native_events,
    run_native,
    scheduler_for,
    simulate,
)
from tests.batches import run_batch
from tests.examples import dear
from tests.exploration.conformance import SUITE, entries
from tests.native.models import MODELS

pytestmark = pytest.mark.plain

VALID = [
    each
    for each in entries()
    if {result["verdict"] for result in each["results"]} != {"compile error"}
]
CHECKED = VALID if is_plain() else VALID[::12]  # compiling takes long
RECURSIVE_MODELS = {"sync_method.rebeca"}
COMPILED_MODELS = 1
PLAIN_MODELS = dear(200)
KEY = (2**63 + 5, 17)
ORDERS = (RANDOM, MessageOrder(last="go"), MessageOrder(first="go"), FIFO)


def same_run(native, model, replication, *, law="fair", order=RANDOM, **limits):
    """Compare one traced run of both engines; gives its outcome."""
    runs = run_native(
        native,
        key=KEY,
        replications=range(replication, replication + 1),
        until=limits.get("until"),
        max_steps=limits.get("max_steps"),
        choice_law=law,
        order=order,
        trace=True,
    )
    tracer = Tracer()
    scheduler = scheduler_for(order, Streams(KEY, replication), law)
    expected = simulate(model, scheduler, tracer=tracer, **limits)
    outcome, steps, time = runs.ends[0].tolist()
    assert (OUTCOMES[outcome], steps, time) == (expected.outcome, expected.steps, expected.time)
    assert runs.detail == expected.detail
    # As text, so that a NaN equals itself.
    assert list(map(repr, native_events(native, runs))) == list(map(repr, tracer.events))
    return expected.outcome


@settings(
    max_examples=PLAIN_MODELS if is_plain() else COMPILED_MODELS,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(MODELS, st.sampled_from(ORDERS), st.sampled_from(["fair", "rmc"]))
def test_random_models_run_the_same(text, order, law):
    note(text)
    checked = check_source(text, "random.rebeca")
    note(step_source(checked).text)
    model = build_model(checked, "random.rebeca")
    native = native_model(model, checked)
    for replication in range(3):
        same_run(native, model, replication, law=law, order=order, max_steps=60)


TURNING = """
reactiveclass Source(5) {
    knownrebecs { Desk desk; Judge judge; }
    Source() { self.go(); }
    @globalPriority(1) msgsrv go() {
        desk.slow();
        if (?(true, false)) { desk.fast(); }
        judge.look();
        self.go() after(1);
    }
}
reactiveclass Desk(5) {
    knownrebecs { Judge judge; }
    @globalPriority(2) msgsrv fast() { judge.done(); }
    @globalPriority(4) msgsrv slow() { judge.done(); }
}
reactiveclass Judge(8) {
    statevars { byte served; }
    @globalPriority(1) msgsrv done() { served = 1; }
    @globalPriority(3) msgsrv look() { served = 0; }
}
main { Source source(desk, judge):(); Desk desk(judge):(); Judge judge():(); }
"""


def test_global_priorities_of_messages_that_may_turn_run_the_same():
    checked = check_source(TURNING, "a.rebeca")
    model = build_model(checked, "a.rebeca")
    native = native_model(model, checked)
    for order in ORDERS:
        assert same_run(native, model, 1, order=order, max_steps=60) == "step limit"


WEIGHTED = """
env double P = 0.125, Q = 1 - P;
env double[2] R = {P, Q};
reactiveclass Source(9) {
    knownrebecs { Sink a; Sink b; Sink c; }
    statevars { int n; double d; boolean p; }
    Source() { self.go(); }
    msgsrv go() {
        a.take(?(1.0 / 4: 1, 3.0 / 4: 2)) after(?(0.5: 1, 0.5: 2));
        b.take(?(3.0 / 4: 1, 1.0 / 4: 2)) after(?(0.1: 1, 0.9: 2));
        c.take(?(2.0 / 4: 1, 2.0 / 4: 2)) after(?(0.3: 1, 0.7: 2));
        d = ?(P: 0.5, Q: 1.5);
        p = ?(R[0]: true, R[1]: false);
        n = ?(1: 7);
        pAlt {
            prob(P): { while (true) { if (n < 0) break; n--; } }
            prob(Q - 0.5): { if (p) break; n = ?(1, 2, 3); }
            prob(0.499): { }
        }
        self.go() after(2);
    }
}
reactiveclass Sink(9) { statevars { int sum; } msgsrv take(int x) { sum += x; } }
main { Source s(a, b, c):(); Sink a():(); Sink b():(); Sink c():(); }
"""


@pytest.mark.parametrize("law", ["fair", "rmc"])
def test_weighted_choices_draw_the_same_from_each_of_their_sites(law):
    checked = check_source(WEIGHTED, "a.rebeca")
    model = build_model(checked, "a.rebeca")
    native = native_model(model, checked)
    for replication in range(3):
        same_run(native, model, replication, law=law, max_steps=200)


ASSIGNS_INSIDE = """
reactiveclass A(3) {
    knownrebecs { A peer; }
    statevars { int x; int y; int[3] v; float f; boolean p; A other; }
    A() { self.go(2); }
    int next(int k, float h) { return k++ + ++k + (int) (h *= 2); }
    msgsrv go(int n) {
        int fuel = 20;
        byte b = 127;
        boolean q;
        A who;
        float g = 0.5;
        int[3] w;
        for (int i = 0; i < 3 + x; i++) { if (--fuel < 0) break; }
        while ((n -= 1) > -4 && (q = n > 1) == q) { if (n == 0) continue; y += n++ - 1; n--; }
        for (int i = 0, j = 5; i++ < --j; y += i) { if ((y ^= j) > 90) continue; x += j-- - 1; }
        v[(x = y & 1)]++;
        v[fuel & 1] = w[x++ & 1] = b++ + fuel--;
        f = g = g + x;
        p = (q = !p) || (who = peer) != null;
        other = who = (who == null) ? self : who;
        w[fuel++ & 1] += v[fuel++ & 1]--;
        switch (n++ & 1) { case 0: y += n; case 1: y -= b--; }
        x = next(fuel % 2, g) + (y = n = 3) + b + w[0] + w[1];
        x &= 15;
        self.go(fuel = x & 3) after(fuel + 1);
    }
}
main { A a(c):(); A c(a):(); }
"""


def test_assignments_within_expressions_run_the_same():
    checked = check_source(ASSIGNS_INSIDE, "a.rebeca")
    model = build_model(checked, "a.rebeca")
    native = native_model(model, checked)
    for replication in range(3):
        assert same_run(native, model, replication, max_steps=40) == "step limit"


def test_infinities_and_what_is_not_a_number_run_the_same():
    text = """
    reactiveclass A(2) {
        statevars { int n; double d; float f; boolean same; }
        A() { self.go(); }
        msgsrv go() {
            n = ++n;
            d = d + n / 0.0; f = f - n / 0.0f;
            d -= n * d;
            same = d == d;
            self.go() after(1);
        }
    }
    main { A a():(); }
    """
    checked = check_source(text, "a.rebeca")
    model = build_model(checked, "a.rebeca")
    assert same_run(native_model(model, checked), model, 0, max_steps=10) == "step limit"


@pytest.mark.skipif(is_plain(), reason="is about the compiler")
def test_what_the_compiler_cannot_do_runs_in_python(monkeypatch):
    def fail(*functions):
        raise ValueError("no such luck")

    monkeypatch.setattr("rebecsim.simulation.native.prepare", fail)
    checked = check_source(RECURSIVE.replace("down(k - 1)", "k"), "a.rebeca")
    model = build_model(checked, "a.rebeca")
    options = {"key": KEY, "replications": range(30), "until": 3_000, "checked": checked}
    with pytest.raises(NotNativeError, match="cannot be compiled"):
        run_batch(model, Observation("a", ("x",)), engine="native", **options)
    batch = run_batch(model, Observation("a", ("x",)), engine="auto", **options)
    assert batch.engine == "python"


RUNS = """
env int LAST = 2;
reactiveclass Office(9) {{
    knownrebecs {{ {known} }}
    statevars {{ int x; boolean[{number}] free; int[4] jobs; int done; }}
    Office() {{ for (int i = 0; i < {number}; i++) {{ free[i] = true; }} self.go(); }}
    msgsrv go() {{
        int k;
        {runs}
        x++;
        self.go() after(1);
    }}
    msgsrv ready(int clerk) {{ free[clerk] = true; done++; }}
}}
reactiveclass Clerk(3) {{
    knownrebecs {{ Office office; }}
    statevars {{ int me; }}
    Clerk(int number) {{ me = number; }}
    msgsrv work(int amount) {{ office.ready(me) after(amount); }}
}}
main {{
    Office office({clerks}):();
    {mains}
}}
"""
RUN = """
        if (free[{place}]) {{
            k = ?({place}, {next}, LAST, 3);
            jobs[(x + {place}) & 3] += k;
            for (int i = 0; i < {next}; i++) {{ jobs[i & 3]++; }}
            if (jobs[k + {spare}] > {next} && sender != c{place}) {{
                assertion(x < 25, "too long");
                c{place}.work(k + 1) after({place});
                free[{place}] = false;
            }} else {{ delay(0); }}
        }}"""


def office(number, spare=0):
    """Give a model of so many clerks; with something to spare it leaves an array in the end."""
    clerks = [f"c{place}" for place in range(number)]
    return RUNS.format(
        number=number,
        known=" ".join(f"Clerk {name};" for name in clerks),
        clerks=", ".join(clerks),
        runs="".join(
            RUN.format(place=place, next=place + 1, spare=spare * place) for place in range(number)
        ),
        mains=" ".join(f"Clerk {name}(office):({place});" for place, name in enumerate(clerks)),
    )


@pytest.mark.parametrize(("number", "spare"), [(1, 0), (2, 0), (3, 0), (3, 1)])
def test_runs_of_equal_statements_run_the_same(number, spare):
    checked = check_source(office(number, spare), "office.rebeca")
    model = build_model(checked, "office.rebeca")
    native = native_model(model, checked)
    assert "for row in range(" in native.source.text
    outcomes = {same_run(native, model, each, max_steps=200) for each in range(6)}
    assert outcomes <= {"assertion failed", "step limit"}
    assert "assertion failed" in outcomes


@pytest.mark.parametrize("entry", CHECKED, ids=lambda each: each["file"])
def test_conformance_models_run_the_same(entry):
    path = SUITE / entry["file"]
    checked = check_file(path, entry["language"])
    model = build_model(checked, path.name)
    if entry["file"] in RECURSIVE_MODELS:
        with pytest.raises(NotNativeError, match="recursive"):
            native_model(model, checked)
        return
    native = native_model(model, checked)
    for replication in range(3):
        for law in ("fair", "rmc"):
            same_run(native, model, replication, law=law, max_steps=150)
    same_run(native, model, 3, order=FIFO, max_steps=150)


PATTERNS = [
    {"pattern": "bursty", "size": 3, "interval": 2},
    {"pattern": "uniform", "count": 2},
    {"pattern": "wave", "minimum": 0, "increment": 1, "points": 4},
    {"pattern": "ascending", "minimum": 0, "increment": 1, "points": 4},
    {"pattern": "descending", "maximum": 3, "decrement": 1, "points": 4},
    {"pattern": "nondet", "minimum": 0, "maximum": 3},
    {"pattern": "sine", "mean": 2, "amplitude": 1, "period": 6},
]
CLUSTER = {
    "name": "all",
    "app_masters": [1, 3],
    "queue_size": 4,
    "epsilon": 0.5,
    "replications": 2,
    "ticks": 12,
    "seed": 3,
    "arrivals": PATTERNS,
    "lengths": [
        {"pattern": "nondet", "minimum": 1, "maximum": 4},
        {"pattern": "geometric", "base": 1, "ratio": 2, "points": 3},
        {"pattern": "linear", "multiplier": 1},
    ],
}
DISPATCH = CLUSTER | {
    "policies": ["EDF", "FIFO", "LLF", "MDF", "MLF", "PRIORITY", "SJF"],
    "high_priority": {"probability": 20, "length": 2},
}
SPEEDS = CLUSTER | {"policies": ["EDF"], "app_masters": [2], "speeds": [0.5, 3.0]}
EVICTION = {"policies": ["MDF", "MLF"], "high_priority": {"probability": 20, "length": 2}}
NATJAM = CLUSTER | EVICTION | {"eviction": {"checkpoint_overhead": 1}}
AS_PUBLISHED = CLUSTER | EVICTION | {"eviction": {"checkpoint_overhead": 1, "as_published": True}}
SCENARIOS = {
    "dispatch": DISPATCH,
    "speeds": SPEEDS,
    "natjam": NATJAM,
    "as published": AS_PUBLISHED,
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name in ("natjam", "as published")))
        for name in SCENARIOS
    ],
)
def test_all_templates_give_the_same_batches_and_traces(name):
    plan = plan_scenario(Scenario.model_validate(SCENARIOS[name]))
    cells = plan.cells[::7] if is_plain() else plan.cells[3::97]
    for place, cell in enumerate(cells):
        file = f"{cell.name}.rebeca"
        checked = check_source(cell.setup.model_text, file)
        model = build_model(checked, file)
        for trace in (False, True):
            python, native = (
                run_batch(
                    model,
                    cell.setup.observation,
                    key=cell.key,
                    replications=range(1, 3),
                    until=cell.setup.until,
                    choice_law=("fair", "rmc")[place % 2],
                    order=ORDERS[place % 4],
                    trace=trace,
                    engine=engine,
                    checked=checked,
                )
                for engine in ("python", "native")
            )
            assert (python.engine, native.engine) == ("python", "native")
            assert (native.first, native.events) == (python.first, python.events)
            np.testing.assert_array_equal(native.outcomes, python.outcomes)
            for variable, values in python.columns.items():
                np.testing.assert_array_equal(native.columns[variable], values)
                assert native.columns[variable].dtype == values.dtype


FAILURES = {
    "v[x] = 1;": 'Array index out of bound: 7, method "a.go" line 4',
    "y = 1 / z;": 'by zero, method "a.go"',
    "y = 1 % z;": 'by zero, method "a.go"',
    "f = 3e9; y = (int) f;": 'the float 3000000000.0 does not fit into an int, method "a.go"',
    "((B) other).go();": "other is a A, not a B",
    "nobody.go();": 'message to null, method "a.go"',
    "self.go() after(z - 2);": 'a.go: after(-2) is in the past; use 0 or more, method "a.go"',
    "delay(z - 3);": 'a delay of -3 time units; use 0 or more, method "a.go"',
    'assertion(x < 7, "too large");': "too large",
    "assertion(x < 7);": "",
    "self.full(x, true, f, other, nobody); self.go();": "no place for go() in a queue of 2",
    "self.full(x, true, 1.5, self, nobody); self.full(x, x < 7, f, other, nobody);": (
        "no place for full(7, False, 0.0, other, None) in a queue of 2"
    ),
    "self.late() deadline(1); delay(2);": "late() with deadline 1 is served at time 2",
}


@pytest.mark.parametrize("statement", FAILURES if is_plain() else list(FAILURES)[::6])
def test_violations_are_told_in_the_same_words(statement):
    text = f"""reactiveclass A(2) {{ statevars {{ int x; int y; int z; float f; A other; A nobody;
      int[3] v; boolean first; }}
      A(boolean it) {{ first = it; x = 7; other = self; if (it) {{ self.go(); }} }}
      msgsrv go() {{ y = 5; {statement} y = 6; }}
      msgsrv full(int i, boolean b, float g, A p, A q) {{ }} msgsrv late() {{ }} }}
    reactiveclass B extends A(2) {{ B(boolean it) {{ super(it); }} }}
    main {{ A a():(true); A other():(false); B c():(false); }}"""
    text = text.replace("((B) other).go();", "((B) self).go();")
    checked = check_source(text, "test.rebeca")
    model = build_model(checked, "test.rebeca")
    native = native_model(model, checked)
    outcome = same_run(native, model, 0, max_steps=5)
    assert outcome in ("assertion failed", "queue overflow", "deadline missed")
    runs = run_native(native, key=KEY, replications=range(1), until=None, max_steps=5)
    wanted = FAILURES[statement].replace("other is a A", "a is a A").replace(", other,", ", a,")
    assert wanted in runs.detail


def test_a_failure_leaves_the_state_as_it_was_at_that_moment():
    text = """reactiveclass A(3) { statevars { int x; int y; int[2] v; } A() { self.go(); }
      int bump(int k) { y += k; return k; }
      msgsrv go() { x = bump(1) + v[5] + bump(10); x = 9; } }
    main { A a():(); }"""
    checked = check_source(text, "test.rebeca")
    model = build_model(checked, "test.rebeca")
    native = native_model(model, checked)
    assert same_run(native, model, 0) == "assertion failed"
    observed = [native.cell_of["a", name] for name in ("x", "y")]
    runs = run_native(native, key=KEY, replications=range(1), until=None, observed=observed)
    assert runs.values.tolist() == [[0, 1]]


def test_long_traces_make_room_for_themselves():
    text = """reactiveclass A(3) { statevars { int x; } A() { self.go(); }
      msgsrv go() { x = ?(1, 2) + ?(3, 4); self.go() after(1); } }
    main { A a():(); }"""
    checked = check_source(text, "test.rebeca")
    model = build_model(checked, "test.rebeca")
    assert same_run(native_model(model, checked), model, 5, until=1_500) == "time limit"


def test_a_constructor_that_fails_fails_in_every_replication():
    text = "reactiveclass A(1) { A() { assertion(false); } } main { A a():(); }"
    checked = check_source(text, "test.rebeca")
    batch = run_batch(
        build_model(checked, "test.rebeca"),
        Observation("a", ()),
        key=KEY,
        replications=range(3),
        until=10,
        engine="native",
        checked=checked,
    )
    assert [OUTCOMES[outcome] for outcome in batch.outcomes] == ["assertion failed"] * 3


def test_rebec_classes_written_in_python_are_for_the_python_engine():
    text = "reactiveclass A(1) { } main { A a():(); }"
    model = build_model(check_source(text, "test.rebeca"), "test.rebeca")
    with pytest.raises(EngineError, match="choose the python engine"):
        run_batch(
            model, Observation("a", ()), key=KEY, replications=range(1), until=1, engine="native"
        )


RECURSIVE = """reactiveclass A(2) { statevars { int x; } A() { self.go(); }
  int down(int k) { if (k > 0) { return down(k - 1); } return 0; }
  msgsrv go() { x = down(3); } }
main { A a():(); }"""


def test_recursive_methods_are_for_the_python_engine():
    checked = check_source(RECURSIVE, "test.rebeca")
    model = build_model(checked, "test.rebeca")
    common = {"key": KEY, "until": 9, "replications": range(2000), "checked": checked}
    with pytest.raises(NotNativeError, match=r"A\.down calls itself; choose the python engine"):
        run_batch(model, Observation("a", ("x",)), engine="native", **common)
    assert run_batch(model, Observation("a", ("x",)), engine="auto", **common).engine == "python"


def test_small_work_is_done_by_the_python_engine():
    checked = check_source("reactiveclass A(1) { } main { A a():(); }", "test.rebeca")
    model = build_model(checked, "test.rebeca")
    batch = run_batch(
        model, Observation("a", ()), key=KEY, replications=range(5), until=9, checked=checked
    )
    assert batch.engine == "python"


NOT_A_NUMBER = """
reactiveclass A(2) {
    statevars { float[2] g; float f; }
    A() { self.go(); }
    msgsrv go() { g[1] = f / f; f = 0 * f; self.go() after(1); }
}
main { A a():(); }
"""


def test_a_nan_that_stays_is_no_change():
    checked = check_source(NOT_A_NUMBER, "nan.rebeca")
    model = build_model(checked, "nan.rebeca")
    native = native_model(model, checked)
    same_run(native, model, 0, max_steps=4)
    tracer = Tracer()
    simulate(model, scheduler_for(RANDOM, Streams(KEY, 0), "fair"), tracer=tracer, max_steps=3)
    assert [sorted(event.changed) for event in tracer.events] == [["g"], [], []]
