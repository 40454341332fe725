import csv
import io

from rebecsim.report import by_axis_csv, orders_csv, pairs_csv, table_csv


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_the_table_has_all_digits(make_report) -> None:
    report = make_report()
    summary = report.summary
    rows = read(table_csv(report.comparisons))
    assert [row["policy"] for row in rows] == ["EDF", "FIFO", "MDF"]
    for row, expected in zip(rows, summary.rows, strict=True):
        assert int(row["replications"]) == expected.replications
        for metric, e in zip(summary.metrics, expected.estimates, strict=True):
            assert float(row[metric.name]) == e.value
            assert float(row[f"{metric.name}_standard_error"]) == e.standard_error
            assert float(row[f"{metric.name}_low"]) == e.low
            assert float(row[f"{metric.name}_high"]) == e.high
            assert float(row[f"{metric.name}_degrees_of_freedom"]) == e.degrees_of_freedom


def test_sizes_are_lines_of_their_own(make_report) -> None:
    report = make_report()
    (summary,) = report.by_axis.values()
    rows = read(by_axis_csv(report.by_axis, report.axis))
    assert [(row["policy"], int(row["app_masters"])) for row in rows] == [
        (policy, size) for policy in ("EDF", "FIFO", "MDF") for size in (1, 2, 3)
    ]
    values = [float(row["job_request_success"]) for row in rows]
    assert values == [point.estimates[1].value for point in summary.points]


def test_what_is_undefined_is_empty(make_cell, make_report) -> None:
    report = make_report([make_cell(misses=0, completions=0, runs=1)])
    (row,) = read(table_csv(report.comparisons))
    assert row["deadline_misses"] == "0.0"
    assert row["deadline_misses_low"] == ""
    assert row["job_request_success"] == ""


def test_pairs_are_lines_with_their_verdict(full_report) -> None:
    differences = full_report.differences
    rows = read(pairs_csv(full_report.comparisons))
    assert len(rows) == 3 * 6
    for row, pair in zip(rows, differences, strict=True):
        assert (row["metric"], row["first"], row["second"]) == (
            pair.metric.name,
            pair.first,
            pair.second,
        )
        assert int(row["replications"]) == 20
        assert float(row["difference"]) == pair.estimate.value
        assert float(row["difference_low"]) == pair.estimate.low
        assert float(row["p_value"]) == pair.p_value
        assert float(row["holm_p_value"]) == pair.adjusted_p_value
        assert row["shown"] == ("yes" if pair.is_shown else "no")
        assert bool(row["detectable"]) == (pair.power is not None)
    same, undecided, shown = rows[:3]
    assert (same["shown"], same["better"], same["replications_needed"]) == ("no", "", "")
    assert undecided["shown"] == "no"
    assert int(undecided["replications_needed"]) > 20
    assert (shown["shown"], shown["better"]) == ("yes", "EDF")


def test_orders_are_columns(full_report) -> None:
    envelopes = full_report.envelopes
    rows = read(orders_csv(full_report.comparisons))
    assert len(rows) == 3 * 3
    first = rows[0]
    assert (first["metric"], first["policy"]) == ("deadline_misses", "EDF")
    assert (first["lowest_order"], first["highest_order"]) == ("updates-first", "ticks-first")
    assert first["lowest"] == first["updates-first"]
    assert float(first["random"]) == envelopes[0].reference.value
    assert float(first["ticks-first_high"]) == envelopes[0].by_order["ticks-first"].high
