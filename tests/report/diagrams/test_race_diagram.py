"""The two orders of a race as text."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from rebecsim.exploration import Races, find_races
from rebecsim.exploration.races import Witness
from rebecsim.generate.module import load_checked
from rebecsim.report import orders_as_text, race_lines

MODELS = Path("models")
NAMES = ("ticket_service", "teaching/producer_consumer", "teaching/philosophers_deadlock")


@cache
def _races(name: str) -> Races:
    text = (MODELS / f"{name}.rebeca").read_text("utf-8")
    language = "core" if "rebeca: core" in text.splitlines()[0] else "timed"
    model, checked = load_checked(MODELS / f"{name}.rebeca", language)
    return find_races(model, checked=checked)


def _witnesses(name: str) -> list[Witness]:
    return [group.witness for group in _races(name).groups if group.matters]


@pytest.mark.parametrize("name", NAMES)
def test_orders_fit_into_lines_of_every_width(name: str) -> None:
    for witness in _witnesses(name):
        steps = sum(len(order.steps) for order in witness.orders)
        for width in (*range(20, 130, 3), 400):
            lines = orders_as_text(witness, width)
            assert max(map(len, lines)) <= max(width, 30)
            assert sum(title in line for line in lines for title in ("one order", " | the o")) <= 2
            assert len(lines) >= 1 + max(len(order.steps) for order in witness.orders)
            if " | the other order" not in lines[0]:
                assert {"one order", "the other order", ""} <= set(lines)
                assert len(lines) >= steps + 3


def test_wide_terminals_have_orders_beside_each_other_and_narrow_ones_below() -> None:
    witness = _witnesses("ticket_service")[0]
    wide, narrow = (orders_as_text(witness, width) for width in (120, 77))
    assert wide[0] == "one order" + " " * 42 + "| the other order"
    assert narrow[:2] == ["one order", "       office            ann               bob"]
    assert narrow[narrow.index("") + 1] == "the other order"


def test_where_no_drawing_fits_steps_are_listed() -> None:
    lines = orders_as_text(_witnesses("teaching/philosophers_deadlock")[0], 40)
    assert lines[:3] == ["one order", "    0  left -> ada: granted()", "    0  bob -> bob: think()"]


def test_notes_are_wrapped_rather_than_cut() -> None:
    lines = orders_as_text(_witnesses("teaching/producer_consumer")[0], 77)
    right = [line.partition(" | ")[2].strip() for line in lines]
    assert "! queue overflow: no place for item() in a queue of 4" in " ".join(right)


def test_one_is_not_many() -> None:
    first, *_ = race_lines(_races("teaching/producer_consumer"))
    assert first == "producer_consumer: 1 of 1 kind of races is harmful"
