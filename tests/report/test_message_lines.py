"""Messages of a live run in a window, and the bar of a comparison."""

from __future__ import annotations

import re
from io import StringIO
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, strategies as st
from rich.console import Console

from rebecsim.report import MessageLines, progress_bar

ROW = (
    "3-14",
    "rm",
    "am: runJob(newJob=2, newWork=2)",
    "12",
    "false, true",
    "place = [0, 0, 1], slack = 3",
)
words = st.text(st.characters(categories=("L", "N", "P")), max_size=30)


def lines(width: int | None) -> MessageLines:
    return MessageLines(["rm", "am"], ["am: runJob", "rm: tick"], width)


def test_a_row_is_one_line_where_no_window_is() -> None:
    (line,) = lines(None).rows(ROW)
    assert line.endswith("12  false, true  place = [0, 0, 1], slack = 3")


@given(st.lists(words, min_size=4, max_size=4), st.integers(76, 200))
def test_rows_fit_into_the_window_and_lose_nothing(cells: list[str], width: int) -> None:
    message, deadline, choices, changed = cells
    given = ("3-14", "rm", message, deadline[:8], choices, changed)
    shown = list(lines(width).rows(given))
    assert all(len(line) <= width for line in shown)
    assert sorted("".join(shown).replace(" ", "")) == sorted("".join(given).replace(" ", ""))


def test_columns_stay_where_their_headings_are() -> None:
    table = lines(80)
    first, second, third = table.rows(ROW)
    assert len(table.heading()) <= 80
    assert first.index("place") == second.index("slack") == table.heading().index("Changed")
    assert third.index("newWork=2)") == table.heading().index("To: message")


@pytest.mark.parametrize("name", ["against_edf", "a_scenario_with_a_name_that_is_longer_than_most"])
def test_the_bar_of_a_comparison_fits_into_80_columns(name: str) -> None:
    run: Any = SimpleNamespace(
        plan=SimpleNamespace(
            scenario=SimpleNamespace(name=name, choice_law="fair", order="round_robin"),
            study=SimpleNamespace(counted="cells"),
        )
    )
    written = StringIO()
    console = Console(file=written, width=80, force_terminal=True, color_system=None)
    with progress_bar([run], console) as bar:
        bar.start(1_234_567)
        bar.advance(4_000)
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", written.getvalue().replace("\r", "\n")).split(
        "\n"
    )
    assert max(map(len, shown)) <= 80
    assert any(
        "4000/1234567 cells 0:00:00" in line and line.startswith(name[:20]) for line in shown
    )
