"""Many runs from Python: what `simulate --runs` gives, as data."""

from pathlib import Path

import pytest

import rebecsim as rs
from rebecsim.errors import UserError

MODELS = Path(__file__).resolve().parents[2] / "models"
OFFICE = MODELS / "ticket_service.rebeca"
SENSORS = MODELS / "teaching/sensor_network.rebeca"


@pytest.fixture(scope="module")
def many():
    return rs.run(OFFICE, 20, 40, 3, observe=["office.left", "waits=office.buy"], progress=False)


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
        10,
        60,
        observe=["misses"],
        sweep={"FRESH": [4, 5], "east.phase": 1},
        progress=False,
    )
    assert found.summary.policies == ("FRESH=4, east.phase=1", "FRESH=5, east.phase=1")
    assert len(found.differences) == 1
    assert set(found.to_arrow().column("FRESH").to_pylist()) == {4, 5}


def test_a_model_from_a_text_can_be_run_and_one_without_a_text_cannot():
    text = OFFICE.read_text()
    loaded = rs.loads(text, "office")
    found = rs.run(loaded, 3, 20, observe=["office.left"], progress=False)
    assert found.summary.policies == ("office",)
    with pytest.raises(UserError, match="is not from a file or a text"):
        rs.run(loaded.model, 3, 20)


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
