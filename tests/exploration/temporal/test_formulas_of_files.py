"""Formulas of property files, judged on models: verdicts, runs, limits, files."""

from __future__ import annotations

import json

import pytest

from rebecsim.actors import ReplayError
from rebecsim.errors import UserError
from rebecsim.exploration import Checks, Limits, Question, Recorded, explore, recurring, replay
from rebecsim.generate import build_model
from rebecsim.lang import check_source, parse_property

COUNTER = """
env int TOP = 3;
reactiveclass Counter(3) {{
    statevars {{ int n; }}
    Counter() {{ self.step(); }}
    msgsrv step() {{ {step} }}
}}
main {{ Counter c():(); }}
"""
ROUND = "n = (n + 1) % TOP; self.step() after(2);"
ONCE = "n = n + 1; if (n < TOP) self.step() after(2);"
DEFINED = "define { zero = c.n == 0; two = c.n == 2; }"


def asked(step, formulas, **options):
    model, checked = built(step)
    properties = parse_property(f"property {{ {DEFINED} {formulas} }}", "f.property")
    mode = options.pop("mode", None)
    limits = options.pop("limits", None)
    engine = options.pop("engine", "auto")
    checks = Checks(properties=properties, deadlock=False, **options)
    return explore(model, mode=mode, checks=checks, checked=checked, limits=limits, engine=engine)


def built(step):
    checked = check_source(COUNTER.format(step=step), "timed")
    return build_model(checked), checked


def verdicts(result):
    return {each.name: each.verdict for each in result.properties}


LINEAR = "LTL { A: G(F(two)); B: G(F(c.n > 2)); C: F(G(zero)); D: Precedes(c.n == 1, two); }"
TIMED = """TCTL {
    A: AF(time == 4, two); B: AF(time < 4, two); C: AG(LeadsTo(time <= 2, zero, !zero));
    D: EF(time >= 100, two); E: AU(time <= 5, !two, two); F: EG(time <= 3, !two);
    G: AG(time <= TOP, !two); H: Recurs(time <= 5, two); I: !EF(two) || AG(zero);
}"""


@pytest.mark.parametrize("mode", ["FTTS", "TTS"])
@pytest.mark.parametrize("engine", ["python", "native"])
def test_formulas_of_a_counter_that_goes_round(mode, engine):
    found = asked(ROUND, LINEAR, mode=mode, engine=engine)
    expected = {"A": "satisfied", "B": "violated", "C": "violated", "D": "satisfied"}
    assert verdicts(found) == expected
    assert (found.verdict, found.message) == ("property violated", "B")


def test_formulas_with_bounds_count_time_from_the_state_on():
    found = asked(ROUND, TIMED)
    assert verdicts(found) == {
        "A": "satisfied",  # two holds from 2 on, and still when the message of 4 has arrived
        "B": "satisfied",
        "C": "satisfied",
        "D": "satisfied",
        "E": "satisfied",
        "F": "violated",
        "G": "violated",
        "H": "satisfied",
        "I": "violated",
    }
    assert {each.mode for each in found.properties} == {"TTS"}


def test_a_state_in_which_nothing_happens_any_more_repeats_itself():
    found = asked(ONCE, "LTL { Stays: F(G(c.n == 3)); Back: G(F(zero)); }")
    assert verdicts(found) == {"Stays": "satisfied", "Back": "violated"}
    (violated,) = found.violations
    assert violated.path.loop == len(violated.path)
    assert "nothing happens any more" in violated.path.loop_text


def test_what_a_limit_has_cut_off_is_unknown():
    found = asked(ROUND, "LTL { A: G(F(two)); } TCTL { B: AF(two); }", limits=Limits(states=2))
    assert verdicts(found) == {"A": "unknown", "B": "unknown"}
    assert found.verdict == "undecided"


def test_a_run_found_within_a_limit_is_a_violation_all_the_same():
    stuck = "n = n + 1; self.step() after(1);"
    found = asked(stuck, "LTL { Low: G(c.n < 3); }", limits=Limits(states=10))
    assert verdicts(found) == {"Low": "unknown"}  # no run without end is known
    found = asked(ROUND, "LTL { Low: G(!two); }", limits=Limits(states=10))
    assert verdicts(found) == {"Low": "violated"}


def test_properties_can_be_asked_for_by_name():
    formulas = f"Assertion {{ Low: c.n < 3; }} {LINEAR}"
    found = asked(ROUND, formulas, only=("A", "Low"))
    assert verdicts(found) == {"Low": "satisfied", "A": "satisfied"}
    assert found.verdict == "satisfied"
    with pytest.raises(UserError, match=r"f.property: there is no property 'a'; did you mean A"):
        asked(ROUND, formulas, only=("a",))


@pytest.mark.parametrize("name", ["B", "C"])
def test_a_recorded_run_is_gone_again_and_its_formula_judged_again(name):
    text = f"property {{ {DEFINED} {LINEAR} }}"
    question = Question("FTTS", deadlock=False, file="f.property", properties=text, only=(name,))
    model, checked = built(ROUND)
    found = explore(model, checks=question.checks(), checked=checked)
    recorded = Recorded.of(found.path, question)
    again = Recorded.from_json(json.loads(json.dumps(recorded.to_json())))
    assert again == recorded
    assert replay(again, model, checked).loop == found.path.loop
    assert recurring(again, model, checked) == recorded.breach
    changed, tree = built("n = 3 - n; self.step() after(2);")
    with pytest.raises(ReplayError):
        replay(again, changed, tree)


def test_the_loop_of_a_record_has_to_close():
    text = f"property {{ {DEFINED} {LINEAR} }}"
    question = Question("FTTS", deadlock=False, file="f.property", properties=text, only=("B",))
    model, checked = built(ROUND)
    found = explore(model, checks=question.checks(), checked=checked)
    data = Recorded.of(found.path, question).to_json()
    data["loop"] = len(data["steps"]) - 1
    with pytest.raises(ReplayError, match="is not as it was before step"):
        replay(Recorded.from_json(data), model, checked)
    data["loop"] = 99
    with pytest.raises(ReplayError, match="`loop`"):
        Recorded.from_json(data)


def test_assertions_that_fail_are_shown_beside_formulas():
    found = asked(ROUND, "Assertion { Low: c.n < 2; } LTL { A: G(F(two)); }")
    assert verdicts(found) == {"Low": "violated", "A": "satisfied"}
    assert found.verdict == "assertion failed"


# --- what is so only during a delay --------------------------------------------------------------

MACHINE = """
reactiveclass Machine(3) {
    knownrebecs { Watch watch; }
    statevars { boolean on; }
    Machine() { self.work(); }
    msgsrv work() {
        on = true;
        delay(2);
        on = false;
        watch.tell();
        self.work() after(1);
    }
}
reactiveclass Watch(3) {
    statevars { int told; }
    msgsrv tell() { told = (told + 1) % 2; }
}
main { Machine a(watch):(); Watch watch():(); }
"""
OF_MACHINE = """property {
    LTL {
        Ever: F(a.on); Again: Recurs(a.on); Never: G(!a.on); Told: Recurs(watch.told == 1);
        Both: G(!(a.on && watch.told == 1));
    }
    TCTL { Soon: AF(time <= 3, watch.told == 1); }
    Assertion { Off: !a.on; }
}"""


def machine(**options):
    checked = check_source(MACHINE, "timed")
    checks = Checks(properties=parse_property(OF_MACHINE, "f.property"), **options)
    return explore(build_model(checked), checks=checks, checked=checked), checked


def test_formulas_about_a_rebec_that_delays_are_judged_with_states_within_its_message_servers():
    found, _ = machine()
    assert {each.name: (each.mode, each.verdict) for each in found.properties} == {
        "Off": ("FTTS", "satisfied"),  # assertions are looked at between message servers, as in RMC
        "Ever": ("TTS", "satisfied"),
        "Again": ("TTS", "satisfied"),
        "Never": ("TTS", "violated"),
        "Told": ("FTTS", "satisfied"),
        "Both": ("TTS", "violated"),
        "Soon": ("TTS", "satisfied"),
    }
    assert [each.name for each in found.properties[1:4]] == ["Ever", "Again", "Never"]
    assert found.hidden_in_delays == ("Off",)


def test_a_run_that_shows_it_is_gone_again_although_an_assertion_fails_on_its_way():
    found, checked = machine()
    question = Question("FTTS", file="f.property", properties=OF_MACHINE, invariants=("!a.on",))
    recorded = Recorded.of(found.path, question)
    assert recorded.question.mode == "TTS"
    model = build_model(checked)
    assert replay(recorded, model, checked).loop == found.path.loop
    assert recurring(recorded, model, checked) == recorded.breach


def test_what_must_hold_in_states_says_that_delays_were_not_looked_at():
    model, checked = built(ROUND)
    never = Checks(invariants=["c.n < 9"], deadlock=False)
    assert explore(model, checks=never, checked=checked).hidden_in_delays == ()
    delayed, checked = built("n = (n + 1) % TOP; delay(1); self.step() after(1);")
    assert explore(delayed, checks=never, checked=checked).hidden_in_delays == ("c.n < 9",)
    assert not explore(delayed, mode="TTS", checks=never, checked=checked).hidden_in_delays


# --- long times -----------------------------------------------------------------------------------

LONG = "n = (n + 1) % TOP; self.step() after(40000000);"


def test_formulas_with_bounds_over_long_times_jump():
    found = asked(
        LONG,
        """TCTL {
            A: LeadsTo(time <= 40000000, zero, !zero); B: LeadsTo(time < 40000000, zero, !zero);
            C: AG(time < 40000000, !two); D: AF(time == 40000000, two);
            E: EF(time >= 120000001, zero);
            F: Recurs(time <= 80000000, AF(time <= 7, two));
        }""",
    )
    assert verdicts(found) == {
        "A": "satisfied",
        "B": "violated",
        "C": "satisfied",
        "D": "satisfied",
        "E": "satisfied",
        "F": "satisfied",
    }
    violated = next(each for each in found.properties if each.name == "B")
    assert [step.time for step in violated.run.steps][-1] == 80_000_000


def test_an_exact_time_that_can_be_met_in_too_many_ways_is_unknown():
    found = asked(ROUND, "TCTL { A: AF(time == 900000, two); B: AF(time == 9000, two); }")
    assert verdicts(found) == {"A": "unknown", "B": "violated"}
    (unknown, _) = found.properties
    assert unknown.note == "an exact time (`==`) can be met in too many ways to look at"
    assert found.verdict == "property violated"
