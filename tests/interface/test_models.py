"""What is asked of models from Python: the same as the commands answer."""

import inspect
import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from rich.console import Console

import rebecsim as rs
from rebecsim.errors import UserError
from rebecsim.exploration import load_recorded, replay
from rebecsim.lang import RebecaError

OFFICE = Path(__file__).resolve().parents[2] / "models/ticket_service.rebeca"
LAMP = """\
reactiveclass Lamp(2) {
    statevars { int n; boolean on; }
    Lamp(int start) { n = start; self.go(); }
    msgsrv go() { n = (n + 1) % 3; on = !on; self.go() after(2); }
}
main { Lamp lamp():(1); }
"""


@pytest.fixture(scope="module")
def office():
    return rs.load(OFFICE)


@pytest.fixture(scope="module")
def lamp():
    return rs.loads(LAMP, "lamp")


def is_svg(drawing):
    return ElementTree.fromstring(drawing._repr_svg_()).tag == "{http://www.w3.org/2000/svg}svg"


def test_a_model_says_what_it_is_made_of(office, tmp_path):
    assert office.name == "ticket_service"
    assert "ann     Customer  5" in str(office)
    assert repr(office) == "<LoadedModel ticket_service: 3 rebecs>"
    assert is_svg(office.draw())
    office.draw().save(tmp_path / "office.svg")
    assert (tmp_path / "office.svg").read_text() == office.draw().svg
    assert office._repr_html_().count("<svg") == 1


def test_a_model_in_python_and_its_path_are_models_too(office, lamp):
    written = rs.load(OFFICE.with_suffix(".py"))
    assert written.no_text == ""
    expected = str(rs.simulate(office, until=9, seed=3))
    assert str(rs.simulate(OFFICE, until=9, seed=3)) == expected
    assert str(rs.simulate(str(OFFICE), until=9, seed=3)) == expected
    assert str(rs.simulate(lamp.model, until=9)) == str(rs.simulate(lamp, until=9))


def test_warnings_of_the_checker_can_be_read():
    model = LAMP.replace("self.go() after(2);", "self.go() after(2) deadline(1);")
    assert "deadline" in rs.loads(model).warnings[0]


def test_errors_are_those_of_the_commands(tmp_path):
    with pytest.raises(RebecaError, match=r"^lamp\.rebeca:4:19: "):
        rs.loads(LAMP.replace("n = (n", "m = (n"), "lamp")
    with pytest.raises(UserError, match=r"name must end in \.rebeca or \.py"):
        rs.load(tmp_path / "model.txt")


def test_a_run_is_that_of_the_command(office, run):
    _, printed, _ = run("simulate", OFFICE, "--until", 20, "--seed", 5)
    shown = [line.rstrip() for line in printed.splitlines()]
    assert str(rs.simulate(office, until=20, seed=5)).splitlines() == shown


def test_a_run_is_data(lamp):
    done = rs.simulate(lamp, until=5)
    assert (done.outcome, done.time, done.is_violation) == ("time limit", 4, False)
    assert done.started == {"lamp": {"n": 1, "on": False}}
    assert done.state == {"lamp": {"n": 1, "on": True}}
    assert done.values("lamp.n") == ([0, 0, 2, 4], [1, 2, 0, 1])
    table = done.to_arrow()
    assert table.column("time").to_pylist() == [0, 2, 4]
    assert "replication" not in table.column_names
    assert list(done.to_pandas()["server"]) == ["go"] * 3
    with pytest.raises(KeyError):
        done.values("lamp.m")


def test_a_run_without_an_end_has_a_hundred_messages(lamp):
    assert len(rs.simulate(lamp).events) == 100
    assert len(rs.simulate(lamp, steps=7).events) == 7
    assert len(rs.simulate(lamp, until=999).events) == 500


def test_a_run_can_be_kept_and_done_again(office, run, tmp_path):
    done = rs.simulate(office, until=20, seed=2)
    done.save(tmp_path / "run.json")
    _, again, _ = run("simulate", OFFICE, "--replay", tmp_path / "run.json", "--until", 20)
    shown = [line.rstrip() for line in again.splitlines()]
    assert shown[:-1] == str(done).splitlines()[:-1]


def test_a_run_is_drawn(lamp):
    figure = rs.simulate(lamp, until=9).plot()
    number, switch = figure.axes
    assert [axes.get_ylabel() for axes in figure.axes] == ["lamp.n", "lamp.on"]
    assert number.lines[0].get_xdata().tolist() == [0, 0, 2, 4, 6, 8, 8]
    assert number.lines[0].get_ydata().tolist() == [1, 2, 0, 1, 2, 0, 0]
    assert [text.get_text() for text in switch.get_yticklabels()] == ["false", "true"]
    assert len(rs.simulate(lamp, until=9).plot("lamp.n").axes) == 1


def test_a_run_in_which_nothing_happens():
    still = rs.loads("reactiveclass A(2) { statevars { int n; } } main { A a():(); }")
    done = rs.simulate(still)
    assert done.outcome == "ended"
    assert done.started == done.state == {"a": {"n": 0}}
    assert done.to_arrow().num_rows == 0
    assert len(done.plot().axes) == 1


def test_a_constructor_that_fails_is_a_result():
    broken = rs.loads('reactiveclass A(2) { A() { assertion(false, "no"); } } main { A a():(); }')
    done = rs.simulate(broken)
    assert (done.outcome, done.state, done.is_violation) == ("assertion failed", {}, True)
    found = rs.explore(broken)
    assert found.is_violation
    with pytest.raises(UserError, match="there is no counterexample"):
        found.draw()
    with pytest.raises(UserError, match="in a constructor: there is no state space"):
        found.draw_states()


def test_exploring_answers_as_the_command_does(office, run):
    _, printed, _ = run("explore", OFFICE, "--invariant", "office.left > 0", "--json")
    found = rs.explore(office, invariants=["office.left > 0"])
    measured = {"seconds", "peak_memory", "memory_per_state"}
    ours, theirs = found.to_json(), json.loads(printed)
    assert {k: v for k, v in ours.items() if k not in measured} == {
        k: v for k, v in theirs.items() if k not in measured
    }
    assert repr(found) == "<Explored ticket_service: property violated, 8 states>"
    assert (found.transitions, len(found.path)) == (10, 4)


def test_a_counterexample_is_drawn_and_kept(office, tmp_path):
    found = rs.explore(office, invariants=["office.left > 0"])
    assert is_svg(found.draw())
    assert found._repr_html_().count("<svg") == 1
    assert "property violated: office.left &gt; 0" in found._repr_html_()
    found.save(tmp_path / "path.json")
    again = replay(load_recorded(tmp_path / "path.json"), office.model, office.checked)
    assert again.steps == found.path.steps


def test_a_satisfied_model_has_no_counterexample(lamp, office):
    found = rs.explore(lamp)
    assert (found.verdict, found.is_violation, found.path) == ("satisfied", False, None)
    assert "<svg" not in found._repr_html_()
    assert is_svg(found.draw_states())
    with pytest.raises(UserError, match="there is no counterexample"):
        found.save("nowhere.json")
    with pytest.raises(UserError, match="up to 60 states"):
        rs.explore(office, limits=rs.Limits(states=100)).draw_states()


def test_what_is_looked_for_can_be_said(lamp, tmp_path):
    file = tmp_path / "lamp.property"
    file.write_text("property { define { low = lamp.n < 2; } Assertion { always: low; } }")
    assert rs.explore(lamp, property=file).verdict == "assertion failed"
    assert rs.explore(lamp, ignore=["lamp.n"]).states < rs.explore(lamp).states
    assert rs.explore(lamp, tts=True).result.mode == "TTS"
    checks = rs.Checks(invariants=["lamp.n < 2"])
    assert rs.explore(lamp, checks=checks).verdict == "property violated"
    with pytest.raises(RebecaError):
        rs.explore(lamp, invariants=["lamp.m < 2"])
    core = rs.loads("// rebeca: core\n" + LAMP.replace(" after(2)", ""))
    assert rs.explore(core).result.mode == "core"
    with pytest.raises(UserError, match="has no time"):
        rs.explore(core, tts=True)


def test_races_answer_as_the_command_does(office, run):
    _, printed, _ = run("races", OFFICE, "--json")
    found = rs.races(office)
    theirs = json.loads(printed)
    ours = found.to_json() | {"peak_memory": theirs["peak_memory"]}
    assert ours == theirs
    assert (found.is_harmful, all(group.matters for group in found.groups)) == (False, True)
    assert found.is_decided
    assert found.to_arrow().column("id").to_pylist() == [group.id for group in found.groups]
    assert found._repr_html_().count("<svg ") == 3  # two orders in one picture
    assert is_svg(found.draw(found.groups[1].id))
    with pytest.raises(UserError, match="there is no race 'x'; the races are: office"):
        found.draw("x")


def test_a_model_without_races(lamp):
    found = rs.races(lamp)
    assert (found.groups, found.is_harmful) == ((), False)
    assert found.to_arrow().num_rows == 0
    assert "no races" in str(found)
    with pytest.raises(UserError, match=r"there is no race$"):
        found.draw()


def test_exact_orders_answer_as_the_command_does(run):
    asked = ["--reward", "ann.tickets", "--reach", "bob.tickets == 2", "--goes-wrong"]
    _, printed, _ = run("exact", OFFICE, "--until", "10", *asked, "--json")
    found = rs.exact(
        OFFICE, until=10, rewards=["ann.tickets"], reach=["bob.tickets == 2"], goes_wrong=True
    )
    assert found.to_json() == json.loads(printed)
    assert found["goes wrong"] == {"minimum": 0, "expected": 0, "maximum": 0}
    assert found.until == 10
    assert found.to_arrow().column("maximum").to_pylist() == [1.59375, 0.46875, 0.0]
    assert "increase of ann.tickets" in str(found)
    assert repr(found) == "<Exact ticket_service: up to time 10>"
    with pytest.raises(UserError, match="was not requested; there are ann"):
        found["ann.asking"]


def test_rich_prints_results(lamp, capsys):
    Console(width=60).print(rs.simulate(lamp, until=4))
    assert "lamp: go()" in capsys.readouterr().out


def test_control_characters_do_not_reach_a_notebook():
    model = rs.loads(LAMP.replace("n = (n + 1) % 3;", 'assertion(false, "\x1b[31m<b>");'))
    assert "\x1b" not in rs.simulate(model)._repr_html_()
    assert "<b>" not in rs.simulate(model)._repr_html_()


def test_pandas_need_not_be_there(lamp, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(UserError, match="pandas is not installed"):
        rs.simulate(lamp, until=4).to_pandas()


@pytest.mark.parametrize(
    "ask",
    [
        lambda model: rs.explore(model, checks=rs.Checks(overflows=False)),
        lambda model: rs.races(model, checks=rs.Checks(overflows=False)),
        lambda model: rs.exact(model, until=1_000_000, finals="lamp.n"),
    ],
)
def test_a_search_that_was_given_no_limits_says_which_it_had(ask, monkeypatch):
    endless = rs.loads(
        """
        reactiveclass Lamp(2) {
            statevars { int n; }
            Lamp() { self.go(); }
            msgsrv go() { n = n + ?(1, 2); self.go() after(1); }
        }
        main { Lamp lamp():(); }
        """,
        "endless",
    )
    short = rs.Limits(seconds=0.3)
    for name in ("exploring", "racing", "orders"):
        monkeypatch.setattr(f"rebecsim.interface.{name}.MINUTE", short)
    with pytest.warns(UserWarning, match=r"endless: stopped after a minute; `limits=rs\.Limits\("):
        ask(endless)


def test_one_text_may_be_given_alone(office):
    several = rs.explore(office, invariants=["office.left > 0"])
    assert str(rs.explore(office, invariants="office.left > 0").path) == str(several.path)
    assert rs.exact(office, until=5, rewards="ann.tickets")["ann.tickets"]


def test_everything_but_what_it_is_about_is_given_by_name():
    for name in (
        "simulate",
        "run",
        "explore",
        "races",
        "exact",
        "estimate",
        "rare",
        "compare",
        "size",
    ):
        first, *others = inspect.signature(getattr(rs, name)).parameters.values()
        assert first.kind is first.POSITIONAL_OR_KEYWORD
        assert all(each.kind in (each.KEYWORD_ONLY, each.VAR_KEYWORD) for each in others), name
