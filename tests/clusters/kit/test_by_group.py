"""The answer by queue or user in reports: under one condition, and under several."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from rebecsim.clusters.kit.report import by_group_section, first_cells
from rebecsim.report.groups import GroupAnswer, JobTimes, group_view
from rebecsim.studies.cells import Condition


def answer(*waits: float, variants: int = 2) -> GroupAnswer:
    """Make an answer of two jobs of two queues, which wait so long under the last variant."""

    def run(times: tuple[float, ...]) -> JobTimes:
        wait = np.array(times)
        return JobTimes(np.array(["j1", "j2"]), np.array(["etl", "adhoc"]), wait, wait + 100)

    runs = {f"v{number}": run((10.0, 10.0)) for number in range(variants - 1)}
    return GroupAnswer({**runs, "last": run(waits)}, "queue", exact=True)


LOADS = [Condition.of(load_factor=load) for load in (1.0, 1.5, 2.0, 2.5)]


def test_one_condition_is_the_answer_of_page_and_terminal() -> None:
    section = by_group_section({LOADS[0]: answer(10.0, 40.0)}, leads=True, terminal=True)
    assert [each.about for each in section.answer] == ["last instead of v0, on average:"]
    assert section.leads_terminal
    assert section.terminal is not None
    assert list(section.files) == ["by_group.csv"]
    assert [each.title for each in section.pictures] == ["What jobs wait and take, by queue"]


def test_the_terminal_has_the_first_condition_then_what_changes_under_others() -> None:
    answers = {LOADS[0]: answer(10.0, 40.0), LOADS[1]: answer(70.0, 10.0)}
    section = by_group_section(answers, leads=True, terminal=True)
    assert section.leads_terminal
    printed = io.StringIO()
    Console(width=80, file=printed).print(section.terminal, *section.further.values())
    assert list(section.further) == ["load factor 1.5"]
    lines = [line.rstrip() for line in printed.getvalue().splitlines()]
    assert [line for line in lines if not line.startswith(" ")] == [
        "With load factor 1.0: last instead of v0, on average:",
        "Same input, same result: these differences are exact.",
        "",
        "Seconds that jobs wait, and take from submission to end, by queue, load factor",
        "1.0",
        "",
        "",
        "With load factor 1.5: last instead of v0, on average:",
    ]
    assert lines[1] == "  adhoc waits 30 s more (10 to 40 s); its jobs take 27 % longer (110 to"
    assert (
        lines[-5] == "  etl waits 60 s more (10 to 70 s); its jobs take 1.5 times as long (110 to"
    )
    assert " adhoc     v0          1    10      10    10       110     110   110" in lines


def test_columns_stand_closer_where_they_would_not_fit() -> None:
    waits = np.array([400_000.0, 200_000.0])
    names, groups = np.array(["j1", "j2"]), np.array(["analysts", "marketing"])
    runs = {
        name: JobTimes(names, groups, waits + more, 2 * waits)
        for name, more in (("EASY", 0.0), ("FAIR_EASY", 9.0))
    }
    printed = io.StringIO()
    Console(width=80, file=printed).print(group_view(GroupAnswer(runs, "queue", exact=True)))
    lines = [line.rstrip() for line in printed.getvalue().splitlines()]
    assert " analysts  EASY         1 400,000 400,000 400,000  800,000 800,000 800,000" in lines
    assert "           FAIR_EASY    1 400,009 400,009 400,009  800,000 800,000 800,000" in lines


def test_several_conditions_lead_the_page_and_not_the_terminal() -> None:
    answers = {LOADS[0]: answer(10.0, 40.0), LOADS[1]: answer(70.0, 10.0)}
    section = by_group_section(answers, leads=True)
    assert [each.about for each in section.answer] == [
        "With load factor 1.0: last instead of v0, on average:",
        "With load factor 1.5: last instead of v0, on average:",
    ]
    assert section.answer[1].lines[0].startswith("etl waits 60 s more (10 to 70 s)")
    assert [each.title.rpartition(", ")[2] for each in section.tables] == [
        "load factor 1.0",
        "load factor 1.5",
    ]
    assert [each.title for each in section.pictures] == [
        "What jobs wait and take, by queue, with load factor 1.0"
    ]
    assert not section.leads_terminal
    assert section.terminal is None
    assert not section.files


def test_many_conditions_are_left_to_the_tables() -> None:
    answers = {each: answer(10.0, 40.0, variants=3) for each in LOADS}
    section = by_group_section(answers, leads=True)
    assert len(section.answer) == 6
    assert len(section.tables) == 4
    assert section.sentences == (
        "Same input, same result: these differences are exact.",
        "The tables have the other conditions.",
    )


def test_without_a_lead_the_sentences_say_it() -> None:
    section = by_group_section({LOADS[0]: answer(10.0, 40.0)}, leads=False, notes=("Of one run.",))
    assert not section.answer
    assert section.sentences[
        1
    ] == "adhoc waits 30 s more (10 to 40 s); its jobs take 27 % longer " + ("(110 to 140 s).")
    assert section.notes == ("Of one run.",)


@pytest.mark.parametrize(("has_chance", "conditions"), [(False, [1.0, 1.5]), (True, [1.0])])
def test_the_first_condition_and_the_baseline_come_first(has_chance, conditions) -> None:
    cells = [
        SimpleNamespace(
            cell=SimpleNamespace(policy=policy, condition=Condition.of(load_factor=load))
        )
        for policy in ("FCFS", "EASY")
        for load in (1.0, 1.5)
    ]
    scenario = SimpleNamespace(compared_with="EASY")
    plan: Any = SimpleNamespace(cells=cells, has_chance=has_chance, scenario=scenario)
    found = first_cells(plan)
    assert [condition["load_factor"] for condition in found] == conditions
    assert [list(each) for each in found.values()] == [["EASY", "FCFS"]] * len(conditions)
