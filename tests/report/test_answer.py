"""The sentence that a comparison begins with, and the table under it."""

import math
from dataclasses import replace

import pytest
from rich.console import Console

from rebecsim.clusters.dispatch.measures import DEADLINE_MISSES
from rebecsim.metrics import Metric
from rebecsim.report import answer_notes, answer_sentence, answer_table, render_html, report_view
from rebecsim.report.answer import answer_text
from rebecsim.studies.cells import Compared, Condition
from rebecsim.studies.differences import PairDifference
from rebecsim.studies.estimates import Estimate
from rebecsim.studies.study import Axis
from rebecsim.studies.summary import Answer, Standing

AXIS = Axis("app_masters", "cluster_size", "Cluster size", "number of AppMasters")
WAIT = Metric("wait", "Mean wait", "s", "lower", {"w": 1})
DONE = Metric("done", "Jobs done", "jobs per run", "higher", {"d": 1})
LEFT = Metric("left", "Tickets left", "", "neither", {"l": 1})


def standing(
    figures: dict[str, float],
    shown: str = "",
    baseline: str | None = None,
    metric: Metric = DEADLINE_MISSES,
    certain: bool = False,
    tested: bool = True,
    **coordinates: str | float,
) -> Standing:
    """Pairs as in "A-B C-A" are shown; all are tested, or those with the baseline."""
    pairs = {frozenset(pair.split("-")) for pair in shown.split()}
    names = list(figures)
    differences = []
    for i, first in enumerate(names):
        for second in names[i + 1 :]:
            if not tested or (baseline and baseline not in (first, second)):
                continue
            value = figures[first] - figures[second]
            estimate = Estimate(value, 0.5, value - 1, value + 1, 0.95, 9.0)
            is_shown = certain or {first, second} in pairs
            differences.append(
                PairDifference(
                    metric, first, second, 9, estimate, 0.1, 0.001 if is_shown else 0.9,
                    is_certain=certain,
                )
            )  # fmt: skip
    defined = [value for value in figures.values() if not math.isnan(value)]
    best = (min if metric.better == "lower" else max)(defined, default=math.nan)
    leaders = tuple(name for name, value in figures.items() if value == best)
    return Standing(Condition.of(**coordinates), figures, leaders, tuple(differences))


def by_size(metric: Metric, *rows: tuple[dict[str, float], str], **settings: object) -> Answer:
    standings = tuple(
        standing(figures, shown, metric=metric, app_masters=size, **settings)
        for size, (figures, shown) in enumerate(rows, start=1)
    )
    baseline = settings.get("baseline")
    return Answer(metric, tuple(standings[0].figures), standings, baseline)


def once(metric: Metric, figures: dict[str, float], shown: str = "", **settings: object) -> Answer:
    found = standing(figures, shown, metric=metric, **settings)
    return Answer(metric, tuple(figures), (found,), settings.get("baseline"))


P2, E1, ALIKE = {"E": 3.0, "P": 2.0}, {"E": 1.0, "P": 2.0}, {"E": 2.0, "P": 2.0}
THREE = {"E": 3.0, "F": 4.0, "P": 2.0}
NONE = {"E": math.nan, "P": math.nan}


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        # One condition.
        (once(DEADLINE_MISSES, P2, "E-P"),
         "P misses the fewest deadlines. The difference to E is significant."),
        (once(DEADLINE_MISSES, P2),
         "P misses the fewest deadlines in these runs. No significant difference to E was found."),
        (once(DEADLINE_MISSES, P2, tested=False),
         "P misses the fewest deadlines in these runs, but no difference could be tested."),
        (once(DEADLINE_MISSES, P2, certain=True),
         "P misses the fewest deadlines. Nothing is random in the runs, so the differences are "
         "exact."),
        (once(DEADLINE_MISSES, ALIKE), "Deadline misses: the same for all policies."),
        (once(WAIT, NONE), "Mean wait: undefined for all policies."),
        (once(WAIT, THREE, "E-P F-P"), "Mean wait: lowest with P. Every difference is "
                                       "significant."),
        (once(WAIT, THREE, "F-P"), "Mean wait: lowest with P. The lead over F is "
                                   "significant, over E not."),
        (once(WAIT, THREE, "E-F"),
         "Mean wait: lowest with P in these runs. No significant difference to the others was "
         "found."),
        (once(WAIT, {"E": 2.0, "F": 4.0, "P": 2.0}, "E-F F-P"),
         "Mean wait: E and P tie for the lowest. The difference to F is significant."),
        (once(WAIT, {"E": 2.0, "F": 4.0, "P": 2.0}, "E-F"),
         "Mean wait: E and P tie for the lowest in these runs. No significant difference to F was "
         "found."),
        # What is undefined is no rival that anything is shown of.
        (once(WAIT, {"E": math.nan, "F": 4.0, "P": 2.0}, "F-P"),
         "Mean wait: lowest with P. The lead over F is significant, over E not."),
        # More is better, and neither is.
        (once(DONE, THREE, "F-P E-F"), "Jobs done: highest with F. Every difference is "
                                       "significant."),
        (once(LEFT, P2, "E-P"), "Tickets left: highest with E. The difference to P is "
                                "significant."),
        # Only differences to a baseline are tested.
        (once(WAIT, THREE, "E-P", baseline="E"),
         "Mean wait: lowest with P. The difference to E is significant; no other was tested."),
        (once(WAIT, THREE, baseline="E"),
         "Mean wait: lowest with P in these runs. No significant difference to E was found; no "
         "other was tested."),
        (once(WAIT, THREE, "F-P", baseline="P"),
         "Mean wait: lowest with P. The lead over F is significant, over E not."),
        (by_size(WAIT, (THREE, "E-P"), ({"E": 1.0, "F": 4.0, "P": 2.0}, "E-P"), baseline="E"),
         "Mean wait: lowest with P at cluster size 1, with E at cluster size 2. The lead is "
         "significant at cluster size 1 only, where only differences to E are tested."),
        # At a tie with the baseline, the others are tested against that one alone.
        (by_size(WAIT, (THREE, "E-P"), ({"E": 2.0, "F": 4.0, "P": 2.0}, "E-F"), baseline="E"),
         "Mean wait: lowest with P at every cluster size, together with others at cluster size 2. "
         "The difference to E is significant at cluster size 1 only; no other was tested."),
        # Several conditions, one best policy.
        (by_size(DEADLINE_MISSES, (THREE, "F-P"), (THREE, "E-P F-P"), (THREE, "E-P F-P")),
         "P misses the fewest deadlines at every cluster size. The lead over F is significant at "
         "every cluster size, over E at cluster sizes 2 and 3."),
        (by_size(DEADLINE_MISSES, (P2, "E-P"), (P2, "E-P")),
         "P misses the fewest deadlines at every cluster size. The difference to E is significant "
         "at every cluster size."),
        (by_size(DEADLINE_MISSES, (THREE, "E-P F-P"), (THREE, "E-P F-P")),
         "P misses the fewest deadlines at every cluster size. Every difference is significant at "
         "every cluster size."),
        (by_size(DEADLINE_MISSES, (P2, ""), (P2, "")),
         "P misses the fewest deadlines at every cluster size in these runs. No significant "
         "difference to E was found at any cluster size."),
        (by_size(DEADLINE_MISSES, (THREE, "F-P"), (THREE, ""), (THREE, "F-P")),
         "P misses the fewest deadlines at every cluster size. The lead over F is significant at "
         "cluster sizes 1 and 3, over E nowhere."),
        (by_size(DEADLINE_MISSES, (P2, "E-P"), (P2, "E-P"), (P2, "E-P"), (ALIKE, "")),
         "P misses the fewest deadlines at every cluster size, together with others at cluster "
         "size 4. The difference to E is significant at cluster sizes 1 to 3 only."),
        # The best one depends on the condition.
        (by_size(DEADLINE_MISSES, (P2, "E-P"), (E1, "E-P")),
         "P misses the fewest deadlines at cluster size 1, E at cluster size 2. Every lead over "
         "all others is significant."),
        (by_size(WAIT, (P2, "E-P"), (E1, ""), (P2, "")),
         "Mean wait: lowest with P at cluster sizes 1 and 3, with E at cluster size 2. The lead "
         "over all others is significant at cluster size 1 only."),
        (by_size(WAIT, (P2, ""), (E1, "")),
         "Mean wait: lowest with P at cluster size 1, with E at cluster size 2 in these runs. No "
         "significant difference to another policy was found at any cluster size."),
        (by_size(WAIT, (THREE, "F-P"), ({"E": 1.0, "F": 4.0, "P": 2.0}, "")),
         "Mean wait: lowest with P at cluster size 1, with E at cluster size 2. No lead over all "
         "others is significant at any cluster size."),
        (by_size(WAIT, (P2, "E-P"), (E1, "E-P"), (ALIKE, ""), (NONE, "")),
         "Mean wait: lowest with P at cluster size 1, with E at cluster size 2, all are equal at "
         "cluster size 3, undefined at cluster size 4. Every lead over all others is significant."),
        (by_size(WAIT, (ALIKE, ""), (ALIKE, "")),
         "Mean wait: the same for all policies at every cluster size."),
    ],
)  # fmt: skip
def test_one_sentence_answers(answer, sentence) -> None:
    assert answer_sentence(answer, axis=AXIS) == sentence


def test_of_many_that_are_equal_it_gives_the_number() -> None:
    figures = {"A": 1.0, "B": 1.0, "C": 1.0, "D": 1.0, "E": 2.0}
    assert answer_sentence(once(DEADLINE_MISSES, figures, "A-E B-E C-E D-E")) == (
        "Deadline misses: 4 policies tie for the lowest. The difference to E is significant."
    )


def test_nothing_is_exact_where_something_drawn_was_run_once() -> None:
    exact = standing(P2, metric=WAIT, certain=True, estimates="exact")
    drawn = standing(P2, metric=WAIT, tested=False, estimates="error 4")
    assert answer_sentence(Answer(WAIT, ("E", "P"), (exact, drawn))) == (
        "Mean wait: lowest with P under every condition. The difference to E is significant with "
        "estimates exact only."
    )


def test_it_speaks_of_variants() -> None:
    standings = tuple(standing({"n=1": left}, metric=LEFT) for left in (3.0, 4.0))
    sentence = answer_sentence(Answer(LEFT, ("n=1",), standings), Compared("variant", "variants"))
    assert sentence == "n=1 is the only variant; compare the conditions below."


@pytest.mark.parametrize(("runs", "has_interval"), [(12, True), (1, False)])
def test_of_one_policy_it_says_the_estimate(
    make_report, make_cell, runs: int, has_interval: bool
) -> None:
    report = make_report([make_cell("EDF", 1, runs=runs)], axis=None)
    ((estimate, *_),) = (row.estimates for row in report.summary.rows)
    interval = f" (95 % interval {estimate.low:.2f} to {estimate.high:.2f})" if has_interval else ""
    said = f"Deadline misses: {estimate.value:.2f} jobs per run{interval}."
    assert answer_text(report) == said


def test_who_ties_for_the_lead_is_not_better_than_each_other() -> None:
    tied = {"E": 2.0, "F": 2.0, "P": 3.0}
    table = answer_table(by_size(WAIT, (tied, "E-P F-P"), (tied, "")), AXIS)
    assert table.rows[0] == ("1", ("2.00 *", "2.00 *", "3.00  ", "all others"))


def test_values_of_a_swept_key_are_compared_if_there_is_one_policy() -> None:
    standings = tuple(standing({"E": value}, "", metric=WAIT) for value in (1.0, 2.0))
    answer = Answer(WAIT, ("E",), standings, None)
    sentence = answer_sentence(answer, axis=AXIS)
    assert sentence == "E is the only policy; compare the values of cluster size below."


def test_conditions_without_an_axis_are_named_by_their_coordinates() -> None:
    def at(load: float, estimates: str, figures: dict[str, float], shown: str) -> Standing:
        return standing(figures, shown, metric=WAIT, load_factor=load, estimates=estimates)

    def said(*standings: Standing) -> str:
        return answer_sentence(Answer(WAIT, ("E", "P"), standings))

    assert said(at(1.0, "exact", P2, "E-P"), at(1.25, "exact", E1, "")) == (
        "Mean wait: lowest with P at load factor 1, with E at load factor 1.25. The lead over all "
        "others is significant at load factor 1 only."
    )
    assert said(at(1.0, "exact", P2, "E-P"), at(1.0, "error 4", E1, "")) == (
        "Mean wait: lowest with P with estimates exact, with E with estimates error 4. The lead "
        "over all others is significant with estimates exact only."
    )
    assert said(at(1.0, "exact", P2, "E-P"), at(1.25, "error 4", P2, "")) == (
        "Mean wait: lowest with P under every condition. The difference to E is significant with "
        "load factor 1, estimates exact only."
    )


def test_the_table_has_a_row_for_each_condition() -> None:
    answer = by_size(DEADLINE_MISSES, (THREE, "F-P"), (THREE, "E-P F-P"), (THREE, ""))
    assert answer.varies
    table = answer_table(answer, AXIS)
    assert table.title == "Deadline misses (jobs per run) by cluster size"
    assert table.headings == ("Cluster size", "E", "F", "P", "Significantly better than")
    assert table.rows == (
        ("1", ("3.00  ", "4.00  ", "2.00 *", "all others but E")),
        ("2", ("3.00  ", "4.00  ", "2.00 *", "all others")),
        ("3", ("3.00  ", "4.00  ", "2.00 *", "none")),
    )
    assert "all 9 pairs" in answer_notes(answer)[0]


def test_a_table_of_many_policies_names_the_best() -> None:
    figures = {name: float(place) for place, name in enumerate("ABCDEFG", start=1)}
    answer = by_size(WAIT, (figures, "A-B A-C"), (figures, ""))
    table = answer_table(answer, AXIS)
    assert table.headings == ("Cluster size", "Best", "Mean wait (s)", "Significantly better than")
    assert table.rows[0] == ("1", ("A", "1.00 *", "B, C"))


def test_the_terminal_and_the_page_begin_with_it(make_report, make_pairs) -> None:
    report = make_report()
    report = replace(
        report,
        moments=[each for each in report.moments if each.cell["app_masters"] < 3],
        pairs=make_pairs({"EDF": 20, "FIFO": 20, "MDF": 60}),
    )
    sentence = answer_sentence(report.answer, axis=report.axis)
    assert sentence.startswith("Deadline misses: EDF and FIFO tie for the lowest at every cluster")
    console = Console(width=400, record=True)
    console.print(report_view(report))
    assert console.export_text().startswith(sentence)
    page = render_html(report, [], [], {})
    before, after = page.split(f'<p class="answer">{sentence}</p>')
    assert before.rstrip().endswith("<h1>Against EDF</h1>")
    assert "<table" not in before
    assert "<table" in after
