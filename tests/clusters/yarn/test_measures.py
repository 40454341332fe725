"""Tables and figures of runs: by hand, and by their laws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from rebecsim.clusters.kit.measures import jain_percent
from rebecsim.clusters.yarn.cluster import run_cluster
from rebecsim.clusters.yarn.configuration import YarnConfiguration
from rebecsim.clusters.yarn.measures import YARN_MEASURES, MeasuredRun, run_figures
from rebecsim.clusters.yarn.tables import (
    OCCUPANCY,
    RESERVATIONS,
    TABLES,
    container_columns,
    last_end,
    tables_of,
)
from tests.clusters.yarn.clusters import configurations, job, nodes, tasks, workloads
from tests.clusters.yarn.test_cluster import finished
from tests.examples import dear


def measured(run) -> MeasuredRun:
    return MeasuredRun(run, container_columns(run))


def test_figures_of_one_task_by_hand():
    # Submitted at 0, launched at 3 s, ended at 8 s; the AppMaster is there from 1 s to 11 s.
    run = run_cluster([job(0, 0, tasks(1, 1500, 5000))], nodes(1), YarnConfiguration())
    figures = run_figures(measured(run))
    assert figures == {
        "mean_duration": 12.0,
        "median_duration": 12.0,
        "p95_duration": 12.0,
        "makespan": 12.0,
        "memory_used": pytest.approx(100 * (5 * 1500 + 10 * 1000) / (12 * 4000)),
        "memory_reserved": 0.0,
        "elastic": 0.0,
        "local": 0.0,
        "accepted": 100.0,
        "reserved": 0.0,
        "mean_slowdown": 1.2,
        "fairness": 100.0,
    }
    assert [each.metric.name for each in YARN_MEASURES] == list(figures)


def test_a_reservation_keeps_what_is_free_on_its_node():
    # Tasks of 3000 MB on a node of 4000 MB that has an AppMaster of 500 MB: 500 MB are left.
    configuration = YarnConfiguration(reservations=True, master_memory=500)
    run = run_cluster([job(0, 0, tasks(2, 3000, 10_000))], nodes(1), configuration)
    (node,) = run.nodes
    (kept,) = node.reservations
    assert kept.end is not None
    tables = tables_of(run, container_columns(run))
    assert tables[RESERVATIONS]["node"].tolist() == ["node1"]
    span = kept.end - kept.start
    # Until the first task ends, 500 MB are kept; then, until the next heartbeat, 3500.
    first_end = run.applications[0].containers[1].finished
    expected = 500 * (first_end - kept.start) + 3500 * (kept.end - first_end)
    assert 0 < first_end - kept.start < span
    assert measured(run).kept == pytest.approx(expected / 1000)


@settings(max_examples=dear(60))
@given(jobs=workloads(), configuration=configurations())
def test_means_over_windows_add_up_to_what_was_used(jobs, configuration):
    run = finished(jobs, nodes(3), configuration)
    each = measured(run)
    table = tables_of(run, each.containers)[OCCUPANCY]
    containers = each.containers
    booked = ((containers.finished - containers.scheduled) * containers.given).sum()
    width = table["time"][1] - table["time"][0] if len(table["time"]) > 1 else last_end(run)
    assert (table["memory"] * width).sum() == pytest.approx(booked)
    assert (table["reserved_memory"] * width).sum() == pytest.approx(1000 * each.kept, abs=1e-6)
    assert (table["elastic_memory"] <= table["memory"] + 1e-9).all()
    total = sum(node.size.memory for node in run.nodes)
    assert (table["memory"] + table["reserved_memory"] <= total + 1e-6).all()


@settings(max_examples=dear(60))
@given(jobs=workloads(), configuration=configurations())
def test_tables_have_the_columns_that_are_announced(jobs, configuration):
    run = finished(jobs, nodes(2), configuration)
    tables = tables_of(run, container_columns(run))
    assert set(tables) == set(TABLES)
    for name, columns in tables.items():
        assert list(columns) == list(TABLES[name])
        assert len({len(column) for column in columns.values()}) == 1
    figures = run_figures(measured(run))
    for share in ("memory_used", "memory_reserved", "elastic", "accepted", "reserved", "fairness"):
        assert 0 <= figures[share] <= 100 + 1e-9


@given(st.lists(st.floats(0.1, 1000), min_size=1, max_size=30), st.floats(0.1, 10))
def test_fairness_knows_no_unit_and_is_full_only_if_all_are_equal(values, factor):
    index = jain_percent(np.array(values))
    assert 100 / len(values) - 1e-7 <= index <= 100 + 1e-7
    assert jain_percent(factor * np.array(values)) == pytest.approx(index)
    assert jain_percent(np.full(len(values), factor)) == pytest.approx(100)
    alone = np.array([1.0] + [0.0] * (len(values) - 1))
    assert jain_percent(alone) == pytest.approx(100 / len(values))
