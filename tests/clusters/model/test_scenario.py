"""Scenarios of models: what is wrong is said with the file, the line and the key."""

from __future__ import annotations

import pytest

from rebecsim.clusters.model.scenario import ModelScenario
from rebecsim.clusters.scenarios import load
from rebecsim.studies.scenario import validated
from rebecsim.studies.scenario_files import ScenarioError
from rebecsim.trust import run_programs
from tests.clusters.model.models import SCENARIO, written

PYTHON = SCENARIO.replace("queue.rebeca", "queue.py").replace("SERVICE", '"desk.service"')

WRONG = [
    (
        "SERVICE = [1, 3]",
        "SERVCE = [1]",
        "8: sweep.SERVCE: there is no env constant of this name; did you mean SERVICE?",
    ),
    ("SERVICE = [1, 3]", '"desk.frst" = [1]', "takes no argument frst; did you mean first?"),
    ("SERVICE = [1, 3]", '"dsk.first" = [1]', "there is no rebec dsk; did you mean desk?"),
    ("SERVICE = [1, 3]", '"source.first" = [1]', "it takes no arguments"),
    ("SERVICE = [1, 3]", "SERVICE = [1.5]", "8: sweep.SERVICE: 1.5 is not of type int"),
    ("SERVICE = [1, 3]", "SERVICE = [true]", "true is not of type int, which SERVICE takes"),
    ("SERVICE = [1, 3]", "SERVICE = []", "must be a list of values, or { from = 1"),
    ("SERVICE = [1, 3]", "SERVICE = [1, 1]", "1 is listed twice; remove one"),
    ("SERVICE = [1, 3]", "SERVICE = { from = 1 }", "the range has no to; add it"),
    ("SERVICE = [1, 3]", "SERVICE = { from = 3, to = 1 }", "a range needs `from` up to"),
    ("SERVICE = [1, 3]", "SERVICE = { from = 1, to = 2, by = 1 }", "not by"),
    ("SERVICE = [1, 3]", "SERVICE = { from = 1, to = 99999 }", "at most 10,000 are allowed"),
    (
        'value = "desk.served"',
        'value = "desk.srved"',
        "11: observe[0].value: 'desk.srved', column"
        " 1: `desk` has no state variable `srved`; did you mean `served`?",
    ),
    ('value = "desk.served"', 'value = "dsk.served"', "did you mean `desk`?"),
    ('value = "desk.served"', 'value = "desk.serve"', "is a message server; observe it as served"),
    ('value = "desk.served"', 'value = "desk"', "is not a number: its type is Desk"),
    ('value = "desk.served"', 'value = "desk.served +"', "column 14: unexpected the end"),
    ('value = "desk.served"', 'value = "__import__(1)"', "column 1"),
    ('value = "desk.served"', 'first = "desk.served"', "is not a condition: its type is int"),
    ('value = "desk.served"', 'served = "desk.srve"', "did you mean desk.serve?"),
    ('value = "desk.served"', 'served = "serve"', "write it with its rebec, such as source.tick"),
    ('value = "desk.served"', 'served = "desk.busy"', "is a state variable; observe it as a value"),
    ('value = "desk.served"', 'misses = "every"', "is not a message server"),
    ('value = "desk.served"', 'outcome = "deadlok"', "must be"),
    ('value = "desk.served"', "", "observe[0]: give exactly one of value, served"),
    ('value = "desk.served"', 'measure = "desk"', "name a message server: serve, or a rebec with"),
    ('value = "desk.served"', 'measure = "dsk.serve"', "there is no rebec 'dsk'; known are"),
    (
        'value = "desk.served"',
        'measure = "desk.serve"\nbetter = "lower"',
        "better is for a single figure; remove it from measure",
    ),
    ('value = "desk.served"', 'served = "desk.serve"\nevery = 2', "every and changes are for a"),
    ('value = "desk.served"', 'value = "desk.served"\nevery = 2\nchanges = true', "not both"),
    ('value = "desk.served"', 'waits = "desk.serve"', "is listed twice"),
    (
        'value = "desk.served"',
        'value = "desk.served"\nname = "wait_desk_serve_sum"',
        "has the column wait_desk_serve_sum, as entry 0; give it a name",
    ),
    ('value = "desk.served"', 'value = "desk.served"\nname = "end"', "which every run has"),
    ('value = "desk.served"', 'valu = "desk.served"', "unknown key; did you mean value?"),
    ("until = 60", "", "say when a run ends: give until"),
    ("until = 60", 'until = 60\norder = "ticks-first"', "needs a tick: name a message server"),
    ("until = 60", 'until = 60\ntick = "tik"', "tick: there is no message server tik; did you"),
    ("until = 60", 'until = 60\nterminal = "desk.served"', "terminal: 'desk.served' is not a cond"),
    ("until = 60", "until = 60\ncompared_with = 3", "compared_with is 3 of 2 variants"),
    ("until = 60", "core = true\nuntil = 60", "a model in Core Rebeca has no time"),
    ('"queue.rebeca"', '"quue.rebeca"', "3: model: there is no file"),
    (
        '"queue.rebeca"',
        '"scenario.toml"',
        "is not a model; the name of a model ends in .rebeca or .py",
    ),
]


@pytest.mark.parametrize(("old", "new", "message"), WRONG, ids=[new for _, new, _ in WRONG])
def test_what_is_wrong_is_said_before_anything_runs(tmp_path, old, new, message):
    assert old in SCENARIO
    path = written(tmp_path, SCENARIO.replace(old, new))
    if "core" in new:
        (tmp_path / "queue.rebeca").write_text(
            "reactiveclass Desk(5) { statevars { int served; } Desk() { self.serve(); }\n"
            "msgsrv serve() { self.serve(); } }\nmain { Desk desk():(); }\n"
        )
    with pytest.raises(ScenarioError) as caught:
        load(path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"desk.service"', "SERVICE", "a model in Python has no env constants"),
        ('"desk.service"', '"desk.srvice"', "did you mean service?"),
        ("[1, 3]", "[1.5]", "1.5 is not of type int"),
    ],
)
def test_arguments_of_models_in_python_are_looked_up(tmp_path, old, new, message):
    with pytest.raises(ScenarioError, match=message.replace("?", r"\?")):
        load(written(tmp_path, PYTHON.replace(old, new)), run_programs)


def test_a_variant_that_is_no_model_is_named(tmp_path):
    path = written(tmp_path)
    text = (tmp_path / "queue.rebeca").read_text()
    (tmp_path / "queue.rebeca").write_text(
        text.replace("boolean busy;", "boolean busy; int[SERVICE] of;")
    )
    path.write_text(SCENARIO.replace("[1, 3]", "[1, 0]"))
    with pytest.raises(ScenarioError, match=r"7: sweep: with SERVICE=0 the model is wrong"):
        load(path)


def test_a_range_has_its_last_value_where_the_steps_meet_it():
    values = {"kind": "model", "name": "x", "model": "x.rebeca", "until": 1}

    def swept(**span):
        sweep = {"A": {name.rstrip("_"): value for name, value in span.items()}}
        return validated(ModelScenario, "x", {**values, "sweep": sweep}, {}).sweep["A"]

    assert swept(from_=1, to=5) == (1, 2, 3, 4, 5)
    assert swept(from_=1, to=6, step=2) == (1, 3, 5)
    assert swept(from_=0.0, to=0.3, step=0.1) == pytest.approx((0.0, 0.1, 0.2, 0.3))
    assert swept(from_=4, to=4) == (4,)
