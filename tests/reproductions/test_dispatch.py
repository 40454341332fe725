import math

import pytest
from rich.console import Console

from rebecsim.clusters.dispatch.measures import (
    DEADLINE_MISSES,
    DISPATCH_METRICS,
    JOB_REQUEST_SUCCESS,
)
from rebecsim.studies.estimates import estimate
from reproductions.dispatch.comparison import (
    PublishedRow,
    PublishedTable,
    Reproduction,
    ReproductionRow,
    reproduction_rows,
    reproduction_table,
)
from reproductions.framework import standard_error_for


def plain(rows: list[ReproductionRow]) -> str:
    console = Console(width=160, color_system=None)
    with console.capture() as capture:
        console.print(reproduction_table(rows, "Published and ours"))
    return capture.get()


@pytest.fixture
def compare(make_cell):
    """Compare one figure; `remeasured` is `printed` unless given."""

    def row(printed, metric=DEADLINE_MISSES, moments=None, remeasured=None, remark="", **more):
        moments = moments or [make_cell(size=n, runs=400) for n in (1, 2)]
        policy = moments[0].cell.policy
        published, measured = (
            dict.fromkeys((each.name for each in DISPATCH_METRICS), figure)
            for figure in (printed, printed if remeasured is None else remeasured)
        )
        row = PublishedRow(policy, published, measured, (metric.name,) if remark else ())
        table = PublishedTable("for_edf", "4.3", (row,), remark=remark)
        rows = reproduction_rows(Reproduction(table, moments, more.pop("fair", moments), **more))
        return next(each for each in rows if each.metric == metric)

    return row


@pytest.mark.parametrize("metric", [DEADLINE_MISSES, JOB_REQUEST_SUCCESS])
def test_the_difference_counts_both_errors_and_the_rounding(compare, make_cell, metric) -> None:
    moments = [make_cell(size=n, runs=400) for n in (1, 2)]
    scale = 100 if metric.is_share else 1
    ours = estimate(metric, moments)
    row = compare(scale * ours.value - 0.5, metric, moments)
    variance = (
        (scale * ours.standard_error) ** 2
        + (scale * standard_error_for(metric, moments, 100)) ** 2
        + 0.01**2 / 12
    )
    assert row.difference_in_standard_errors == pytest.approx(0.5 / math.sqrt(variance))
    assert row.published == pytest.approx(ours.value - 0.5 / scale)
    assert row.ours == ours


def test_figures_that_never_vary_may_differ_by_their_rounding(compare, make_cell) -> None:
    constant = [make_cell(misses=0)]
    assert compare(0.0, moments=constant).difference_in_standard_errors == 0
    assert compare(100.0, JOB_REQUEST_SUCCESS, constant).difference_in_standard_errors == 0
    assert compare(0.5, moments=constant).is_conspicuous


def test_a_single_run_gives_no_difference(compare, make_cell) -> None:
    row = compare(20.0, moments=[make_cell(runs=1)])
    assert row.difference_in_standard_errors is None
    assert not row.is_conspicuous
    assert "\u2013" in plain([row])


def test_the_table_marks_what_needs_an_explanation(compare, make_cell) -> None:
    close = compare(estimate(DEADLINE_MISSES, [make_cell(size=1), make_cell(size=2)]).value)
    far = compare(1.0, remark="another version of the original")
    text = plain([close, far])
    assert text.count("!") == 3  # at the figure, at its remark, and where the mark is explained
    assert "! another version" in text
    assert plain([close]).count("!") == 1


def test_the_fair_law_stands_beside_it(compare, make_cell) -> None:
    fair = [make_cell(size=1, seed=5), make_cell(size=2, seed=5)]
    row = compare(20.0, fair=fair)
    assert row.fair == estimate(DEADLINE_MISSES, fair)
    assert f"{row.fair.value:.2f} ±" in plain([row])


def test_a_remark_stands_only_below_a_difference_that_needs_one(compare, make_cell) -> None:
    value = estimate(DEADLINE_MISSES, [make_cell(size=1), make_cell(size=2)]).value
    assert "another version" not in plain([compare(value, remark="another version")])


def test_more_runs_behind_a_figure_make_the_same_difference_weigh_more(compare) -> None:
    row = compare(20.0)
    assert row.remeasured == row.published
    assert row.difference_in_standard_errors * row.difference_from_remeasured > 0
    assert abs(row.difference_from_remeasured) > abs(row.difference_in_standard_errors)


def test_a_difference_from_either_calls_for_a_remark(compare, make_cell) -> None:
    value = estimate(DEADLINE_MISSES, [make_cell(size=n, runs=400) for n in (1, 2)]).value
    assert not compare(value, remeasured=value).calls_for_a_remark
    assert compare(1.0, remeasured=value).calls_for_a_remark
    assert compare(value, remeasured=1.0).calls_for_a_remark
    assert not compare(value, remeasured=1.0).is_conspicuous


def test_the_mistake_of_the_original_and_the_orders_stand_beside_it(compare, make_cell) -> None:
    corrected = [make_cell(size=1, seed=5), make_cell(size=2, seed=5)]
    fifo = [make_cell(size=1, seed=6), make_cell(size=2, seed=6)]
    row = compare(20.0, corrected=corrected, orders={"fifo": fifo})
    assert row.corrected == estimate(DEADLINE_MISSES, corrected)
    assert row.by_order == {"fifo": estimate(DEADLINE_MISSES, fifo)}
    assert compare(20.0).corrected is None
    assert compare(20.0).by_order == {}
