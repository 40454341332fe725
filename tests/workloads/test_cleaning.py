from __future__ import annotations

import numpy as np
import pytest

from rebecsim.workloads import CleaningRules, read_swf
from rebecsim.workloads.cleaning import RULES

FIELDS = (1, 0, 0, 9, 4, -1, -1, 4, 9, -1, 1, 1, 1, 1, 1, 1, -1, -1)


def line(job: int, **fields: int) -> str:
    places = {"submit": 1, "wait": 2, "run": 3, "allocated": 4, "requested": 7, "status": 10}
    words = [job, *FIELDS[1:]]
    for name, value in fields.items():
        words[places[name]] = value
    return " ".join(map(str, words))


BROKEN = {
    "partial execution": {"status": 2},
    "submission unknown": {"submit": -1},
    "run time unknown": {"run": -1},
    "end before start": {"run": -20},
    "no run time": {"run": 0},
    "processors unknown": {"requested": -1, "allocated": 0},
    "larger than the machine": {"requested": 9},
    "wait unknown": {"wait": -1},
    "submitted earlier than the job above": {"submit": 3},
}


@pytest.mark.parametrize("reason", BROKEN)
def test_a_row_that_breaks_a_rule_is_skipped_and_counted(log, reason):
    good = line(1, submit=5), line(3, submit=6)
    path = log("; MaxProcs: 8", good[0], line(2, **{"submit": 5} | BROKEN[reason]), good[1])
    workload = read_swf(path, rules=CleaningRules(needs_wait=reason == "wait unknown"))
    assert workload.skipped == {reason: 1}
    assert workload.job.tolist() == [1, 3]


def test_a_repeated_number_is_skipped(log):
    workload = read_swf(log(line(1), line(2), line(1, submit=4)))
    assert workload.skipped == {"job number repeated": 1}
    assert workload.submit.tolist() == [0, 0]


def test_every_rule_is_tested_here():
    assert {rule.reason for rule in RULES} == {*BROKEN, "job number repeated"}


def test_a_damaged_row_does_not_make_others_look_wrong(log):
    """A skipped row counts neither as a job with this number nor as one submitted before."""
    path = log(line(1), line(2, submit=99, run=0), line(2, submit=5))
    workload = read_swf(path)
    assert workload.skipped == {"no run time": 1}
    assert workload.submit.tolist() == [0, 5]


def test_a_row_counts_under_the_first_rule_that_it_breaks(log):
    path = log(line(1), line(2, run=0, status=3, requested=-1, allocated=-1))
    assert read_swf(path).skipped == {"partial execution": 1}


def test_rows_may_be_sorted_instead(log):
    path = log(line(3, submit=9), line(1, submit=4), line(2, submit=9), line(4, submit=0))
    workload = read_swf(path, rules=CleaningRules(sort=True))
    assert workload.job.tolist() == [4, 1, 3, 2]  # rows of the same second stay in their order
    assert workload.skipped == {}
    assert read_swf(path).job.tolist() == [3, 2]


def test_a_job_may_be_larger_than_the_machine_where_that_is_the_question(log):
    path = log("; MaxProcs: 2", line(1))
    workload = read_swf(path, rules=CleaningRules(fits_machine=False))
    assert (workload.processors.tolist(), workload.capacity) == ([4], 2)


def test_kept_and_skipped_rows_add_up(shared_data):
    path = shared_data / "swf" / "KTH-SP2-1996.swf.gz"
    workload = read_swf(path, processors=30)
    assert len(workload) + sum(workload.skipped.values()) == 28_489
    assert workload.skipped["larger than the machine"] > 0
    assert int(np.max(workload.processors)) <= 30
