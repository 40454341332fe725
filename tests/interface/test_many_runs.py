"""Many runs from Python: what `simulate --runs` gives, as data."""

import json
from pathlib import Path

import pytest

import rebecsim as rs
from rebecsim.clusters.model.variants import ModelText, open_text
from rebecsim.errors import UserError

MODELS = Path(__file__).resolve().parents[2] / "models"
OFFICE = MODELS / "ticket_service.rebeca"
SENSORS = MODELS / "teaching/sensor_network.rebeca"


@pytest.fixture(scope="module")
def many():
    return rs.run(
        OFFICE,
        runs=20,
        until=40,
        seed=3,
        observe=["office.left", "waits=office.buy"],
        progress=False,
    )


def test_it_is_what_the_command_gives(many, run):
    options = ("--runs", 20, "--until", 40, "--seed", 3)
    done = run(
        "simulate", OFFICE, *options, "--observe", "office.left", "--observe", "waits=office.buy"
    )
    assert str(many).split() == done.stdout.split()


def test_it_has_a_row_for_each_run(many):
    table = many.to_arrow()
    assert table.num_rows == 20
    left = table.column("office_left").to_pylist()
    estimate = many.summary.rows[0].estimates[0]
    assert estimate.value == pytest.approx(sum(left) / 20)
    assert list(many.to_pandas()["office_left"]) == left
    assert repr(many) == "<ManyRuns ticket_service: 20 runs>"


def test_it_is_drawn(many):
    assert many.plot("office_left_distribution").axes
    with pytest.raises(KeyError, match="there are wait_office_buy_waits, office_left_distribution"):
        many.plot("no")


def test_variants_are_compared():
    found = rs.run(
        SENSORS,
        runs=10,
        until=60,
        observe=["misses"],
        sweep={"FRESH": [4, 5], "east.phase": 1},
        progress=False,
    )
    assert found.summary.policies == ("FRESH=4, east.phase=1", "FRESH=5, east.phase=1")
    assert len(found.differences) == 1
    assert set(found.to_arrow().column("FRESH").to_pylist()) == {4, 5}


def test_a_model_from_a_text_can_be_run():
    loaded = rs.loads(OFFICE.read_text(), "office")
    found = rs.run(loaded, runs=3, until=20, observe="office.left", progress=False)
    assert found.summary.policies == ("office",)


class Lamp(rs.Rebec, queue_size=2):
    """A model that is in no file of models, as in a notebook."""

    level: int = rs.state_variable(rs.Int)

    def __init__(self, start: int) -> None:
        self.level = start
        self.go(after=1)

    @rs.message_server
    def go(self) -> None:
        self.level = (self.level + self.choose(1, 2, site=1)) % 3
        self.go(after=2)


def lamps(start=1):
    return rs.Model("two lamps", (rs.Instance("lamp", Lamp, arguments=[start]),))


def test_a_model_that_a_program_made_is_run_many_times(tmp_path):
    asked = {"runs": 20, "until": 10, "observe": "lamp.level", "progress": False}
    found = rs.run(lamps(), **asked, out=tmp_path / "run")
    levels = found.to_arrow().column("lamp_level").to_pylist()
    assert set(levels) == {0, 1, 2}
    again = rs.run(lamps(), **asked)
    assert again.to_arrow().column("lamp_level").to_pylist() == levels
    record = (tmp_path / "run" / "run.json").read_text()
    assert "self.level = (self.level + self.choose(1, 2, site=1)) % 3" in record
    swept = rs.run(lamps(), **asked, sweep={"lamp.start": [0, 2]})
    assert swept.summary.policies == ("lamp.start=0", "lamp.start=2")


def test_how_likely_something_is_in_a_model_that_a_program_made():
    model = lamps()
    asked = {"until": 9, "reach": "lamp.level == 0"}
    likely = rs.exact(model, **asked)["lamp.level == 0"]["expected"]
    found = rs.estimate(model, **asked, error=0.05)["lamp.level == 0"]
    assert found.low <= likely <= found.high
    rare = rs.rare(model, **asked, split="lamp.level", at=[2], per_level=50, repeat=3)
    assert rare.chance.value == pytest.approx(likely, abs=0.15)


def test_other_processes_do_not_know_a_model_that_a_program_made(run, tmp_path):
    with pytest.raises(UserError, match="two lamps: only this program knows the model"):
        rs.run(lamps(), runs=3, until=20, workers=2)
    with pytest.raises(UserError, match="only this program knows the model"):
        rs.estimate(lamps(), until=9, reach="lamp.level == 0", workers=2)
    rs.run(lamps(), runs=3, until=9, observe="lamp.level", progress=False, out=tmp_path / "run")
    text = json.loads((tmp_path / "run" / "run.json").read_text())["scenario"]["text"]
    with pytest.raises(
        UserError, match=r"lamps\.py: was made by a program, and is no longer there"
    ):
        open_text(ModelText("lamps.py", text.replace("its number", "number")))


def test_runs_that_were_kept_are_opened_again(tmp_path):
    found = rs.run(OFFICE, runs=3, until=20, observe="office.left", out=tmp_path, progress=False)
    opened = rs.open(str(tmp_path))
    assert repr(opened) == repr(found)
    assert opened.to_arrow().equals(found.to_arrow())
    assert str(opened) == str(found)
    with pytest.raises(UserError, match="there is no run here"):
        rs.open(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"observe": ["office.lft"]}, "^observe 'office.lft': .*did you mean `left`"),
        ({"sweep": {"X": 1}}, "^sweep X: there is no env constant"),
        ({"until": None}, "^ticket_service.rebeca: say when a run ends"),
        ({"every": 2}, "^every follows variables over time; give one with observe"),
    ],
)
def test_what_does_not_fit_is_named(given, message):
    with pytest.raises(UserError, match=message):
        rs.run(OFFICE, **({"runs": 3, "until": 5} | given))
