"""What commands can do, their functions can; what functions refuse, commands refuse by option."""

import inspect

import pytest

import rebecsim as rs
from rebecsim.cli.app import _imported
from rebecsim.errors import ArgumentError
from tests.interface.test_models import OFFICE

SLOW = OFFICE.parent / "easy_scheduler.rebeca"
PROMISES = SLOW.with_suffix(".property")


def test_a_native_run_is_that_of_python(tmp_path):
    slowly, natively = (rs.simulate(OFFICE, until=20, engine=each) for each in ("auto", "native"))
    assert natively.events == slowly.events
    assert (natively.started, natively.state) == (slowly.started, slowly.state)
    with pytest.raises(ArgumentError, match="choices are kept by the python engine only"):
        natively.save(tmp_path / "run.json")


def test_a_run_is_replayed(tmp_path):
    done = rs.simulate(OFFICE, until=20, seed=3)
    done.save(tmp_path / "run.json")
    again = rs.simulate(OFFICE, replay=tmp_path / "run.json")
    assert (again.events, again.time) == (done.events, done.time)
    with pytest.raises(ArgumentError, match="replay: a replayed run has its choices already"):
        rs.simulate(OFFICE, replay=tmp_path / "run.json", seed=3)


def test_a_search_for_some_properties_leaves_the_others_out():
    both = rs.explore(SLOW, property=PROMISES)
    one = rs.explore(SLOW, property=PROMISES, formulas="promise")
    assert [each.given_properties for each in (both.result, one.result)] == [2, 1]
    with pytest.raises(ArgumentError, match="formulas: give the property file"):
        rs.explore(SLOW, formulas="promise")


def test_a_search_says_how_far_it_is():
    told: list[object] = []
    rs.explore(OFFICE, progress=told.append, engine="python")
    rs.races(OFFICE, progress=told.append)
    rs.exact(OFFICE, until=9, reach="ann.tickets == 2", progress=told.append)
    runs: list[int] = []
    rs.estimate(OFFICE, until=9, reach="ann.tickets == 2", error=0.1, progress=runs.append)
    assert runs[-1] == max(runs) > 50
    assert all(hasattr(each, "states") for each in told)


def test_states_are_kept(tmp_path):
    found = rs.explore(OFFICE, limits=rs.Limits(states=50))
    space = found.save_states(tmp_path / "space.aut", rs.Limits(states=50))
    assert not space.complete
    head = (tmp_path / "space.aut").read_text().splitlines()[0]
    assert head == f"des (0, {len(space.edges)}, {len(space.states)})"


def test_fixes_of_a_race_are_tried():
    found = rs.races(OFFICE, invariants="ann.tickets < 2")
    one = found.groups[0].id
    cures = found.cures(one)
    assert [each.race.id for each in cures.of_races] == [one]
    assert found.recorded(one) is None  # neither of its orders breaks anything
    with pytest.raises(rs.UserError, match="there is no race 'x'"):
        found.cures("x")
    written = rs.races(OFFICE.with_suffix(".py"), invariants="ann.tickets < 2")
    assert len(written.cures(written.groups[0].id).of_races) == 1


def test_an_extreme_run_is_kept(tmp_path):
    asked = "ann.tickets == 2"
    found = rs.exact(OFFICE, until=12, reach=asked)
    found.save_run(tmp_path / "run.json", asked, "minimum")
    again = rs.simulate(OFFICE, replay=tmp_path / "run.json")
    served = [each for each in found.run(asked, "minimum").steps if each.kind == "message"]
    assert [each.call for each in again.events] == [each.call for each in served]


@pytest.mark.parametrize(
    ("wrong", "ask", "command"),
    [
        ("error", lambda: rs.estimate(OFFICE, until=9, reach="true", error=0.6), "--error 0.6"),
        ("level", lambda: rs.estimate(OFFICE, until=9, reach="true", level=1), "--level 1"),
        ("reach", lambda: rs.estimate(OFFICE, until=9), ""),
        (
            "level",
            lambda: rs.rare(OFFICE, until=9, split="ann.tickets", at=[1], level=2),
            "--split ann.tickets --at 1 --goes-wrong --level 2",
        ),
    ],
)
def test_a_wrong_argument_is_a_wrong_option(wrong, ask, command, run):
    with pytest.raises(ArgumentError) as error:
        ask()
    assert error.value.argument == wrong
    reach = [] if wrong == "reach" or "--split" in command else ["--reach", "true"]
    ended = run("estimate", OFFICE, "--until", 9, *reach, *command.split())
    assert ended.returncode == 2
    assert f"Invalid value for --{wrong}: {error.value.fault}" in ended.stderr


def test_core_models_have_no_time(tmp_path, run):
    file = tmp_path / "core.rebeca"
    file.write_text("// rebeca: core\nreactiveclass A(2) { A() {} } main { A a():(); }")
    with pytest.raises(ArgumentError, match="horizon: this is a model in Core Rebeca"):
        rs.explore(file, limits=rs.Limits(horizon=3))
    ended = run("races", file, "--horizon", 3)
    assert "Invalid value for --horizon: this is a model in Core Rebeca" in ended.stderr


@pytest.mark.parametrize(
    ("command", "option", "function", "argument"),
    [
        ("estimate", "error", "estimate", "error"),
        ("estimate", "per_level", "rare", "per_level"),
        ("estimate", "repeat", "rare", "repeat"),
        ("estimate", "level", "estimate", "level"),
        ("races", "max_pairs", "races", "most_followed"),
    ],
)
def test_options_show_the_defaults_of_functions(command, option, function, argument):
    options = {each.name: each for each in _imported(command).params}
    shown = options[option].show_default
    if shown is True:
        shown = options[option].default
    assert str(shown) == str(inspect.signature(getattr(rs, function)).parameters[argument].default)
