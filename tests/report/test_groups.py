"""The answer by queue or user: who waits longer, which job is worst, and what is left out."""

from __future__ import annotations

import numpy as np
import pytest

from rebecsim.report import GroupAnswer, JobTimes, group_section, grouping, short_names


def times(rows: dict[str, tuple[str, float, float]], **refused: int) -> JobTimes:
    """Jobs by name: group, wait and duration (s)."""
    groups, waits, durations = zip(*rows.values(), strict=True)
    return JobTimes(
        np.array(list(rows)), np.array(groups), np.array(waits), np.array(durations), refused
    )


BEFORE = times({"a": ("etl", 348, 500), "b": ("adhoc", 10, 100), "c": ("adhoc", 20, 140)})
AFTER = times({"c": ("adhoc", 97, 378), "b": ("adhoc", 87, 270), "a": ("etl", 278, 430)})


def answer(after: JobTimes = AFTER, before: JobTimes = BEFORE, noun: str = "queue") -> GroupAnswer:
    return GroupAnswer({"before": before, "after": after}, noun, exact=True)


def test_each_queue_that_changes_has_a_sentence_the_most_changed_first() -> None:
    (told,) = answer().told()
    assert told.about == "after instead of before, on average:"
    assert told.lines == (
        "adhoc waits 77 s more (15 to 92 s); its jobs take 2.7 times as long (120 to 324 s).",
        "etl waits 70 s less (348 to 278 s); its jobs take 14 % less time (500 to 430 s).",
        "Of 3 jobs, 1 is faster, 2 slower. Worst: c of adhoc, 238 s longer (140 to 378 s).",
    )


def test_what_does_not_change_is_counted() -> None:
    same = times({"a": ("etl", 348, 500), "b": ("adhoc", 10, 100), "c": ("adhoc", 20.9, 140.9)})
    (told,) = answer(same).told()
    assert told.lines == ("2 queues: as before.", "Of 3 jobs, 0 are faster, 0 slower.")


def test_a_tail_that_grows_behind_a_better_mean_is_told() -> None:
    before = times({f"j{number}": ("etl", 0, 500) for number in range(10)})
    after = times({f"j{number}": ("etl", 0, 1000 if number == 9 else 200) for number in range(10)})
    (told,) = answer(after, before).told()
    assert told.lines[0] == (
        "Jobs of etl take 44 % less time (500 to 280 s); but the slowest take longer: 95th "
        "percentile 500 to 640 s."
    )


def test_only_jobs_that_all_have_run_count_and_refusals_are_told() -> None:
    fewer = times({"a": ("etl", 348, 500), "b": ("adhoc", 10, 100)}, adhoc=1)
    compared = answer(fewer)
    (told,) = compared.told()
    assert told.lines[-1] == "adhoc refuses 1 job (0 under before)."
    assert told.lines[-2] == "Of 2 jobs, 0 are faster, 0 slower."
    counts = [values[:2] for _, values in compared.table().rows]
    assert counts == [(name, count) for count in "112" for name in ("before", "after")]


def test_long_times_are_told_in_hours_and_numbers_say_what_they_are_of() -> None:
    before, after = (times({"job 1": ("7", wait, wait + 60)}) for wait in (36_000, 18_000))
    (told,) = answer(after, before, "user").told()
    assert told.lines[0] == (
        "user 7 waits 5.0 h less (10.0 to 5.0 h); its jobs take 50 % less time (10.0 to 5.0 h)."
    )


def test_hours_that_look_alike_get_another_digit() -> None:
    before, after = (times({"job 1": ("7", wait, wait + 60)}) for wait in (10_650, 10_950))
    (told,) = answer(before, after, "user").told()
    assert "(3.04 to 2.96 h)" in told.lines[0]


def test_a_short_answer_has_the_most_changed_of_many_groups() -> None:
    names = [f"q{number:02}" for number in range(40)]
    before = times({name: (name, 0, 100) for name in names})
    after = times({name: (name, 0, 200 + place) for place, name in enumerate(names)})
    compared = answer(after, before)
    (told,) = compared.told()
    assert told.lines[0].startswith("Jobs of q39 take 2.4 times as long")
    assert told.lines[6] == "34 more queues change."
    assert "7 of 40" in compared.table().title
    assert len(compared.table(None).rows) == 2 * 41
    assert len(compared.told(None)[0].lines) == 41


def test_jobs_are_told_apart_by_queue_or_else_by_user() -> None:
    assert grouping(["a", "b"], ["x", "x"])[0] == "queue"
    assert grouping(["a", "a"], ["x", "y"])[0] == "user"
    noun, groups = grouping(["a", "a"], ["x", "x"])
    assert (noun, set(groups.tolist())) == ("", {""})


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["root.a", "root.b.c"], ["a", "c"]),
        (["root.a.x", "root.b.x", "root.c"], ["a.x", "b.x", "c"]),
        (["plain"], ["plain"]),
    ],
)
def test_queues_are_called_by_the_end_of_their_paths(names: list[str], short: list[str]) -> None:
    assert list(short_names(names).values()) == short


def test_one_run_has_a_table_and_no_sentence() -> None:
    alone = GroupAnswer({"before": BEFORE}, "queue", exact=True)
    assert alone.told() == ()
    assert alone.table().headings[:2] == ("Queue", "Jobs")
    assert [heading for heading, _ in alone.table().rows] == ["adhoc", "etl", "all jobs"]


def test_a_section_leads_only_where_it_answers_for_all_that_was_run() -> None:
    assert group_section(answer(), leads=True).answer
    beside = group_section(answer(), leads=False, notes=("Of the first run.",))
    assert beside.answer == ()
    assert beside.sentences[0] == "after instead of before, on average:"
    header, *rows = beside.files["by_group.csv"].splitlines()
    assert header.startswith("variant,queue,jobs,wait_mean,wait_median,wait_p95,duration_mean")
    assert rows[0].startswith("before,adhoc,2,15.0,15.0,19.5,120.0,120.0,138.0")
