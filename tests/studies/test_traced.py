import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rebecsim.clusters.dispatch.energy import utilisation
from rebecsim.clusters.dispatch.report.hardware import traced_runs, utilisation_over_time
from rebecsim.clusters.scenarios import load_scenario, plan_scenario
from rebecsim.studies import Results, ResultsError
from rebecsim.studies.parts import row_groups, schema_of
from rebecsim.studies.simulated import TRACE_COLUMNS, TRACES
from tests.plans import run_plan

SCENARIO = """\
kind = "dispatch"
name = "tiny"
policies = ["EDF", "SJF"]
app_masters = [1, 2]
queue_size = 4
epsilon = 0.5
speeds = [1.0, 0.5]
replications = 4
ticks = 20

[[arrivals]]
pattern = "uniform"
count = 1

[[lengths]]
pattern = "nondet"
minimum = 1
maximum = 4
"""


@pytest.fixture
def run(tmp_path):
    """A plan and its results, with traces."""
    (tmp_path / "tiny.toml").write_text(SCENARIO)
    plan = plan_scenario(load_scenario(tmp_path / "tiny.toml"))
    results = Results.create(tmp_path / "out", plan)
    run_plan(plan, results, trace=True)
    return plan, results


def write_trace(path, rows, row_group_size):
    """A trace file of (replication, step, time, rebec, server, sender, arrival)."""
    names = ("replication", "step", "time", "rebec", "server", "sender", "arrival")
    blank = {"finished": 0, "deadline": None, "arguments": "", "choices": "", "changed": ""}
    table = pa.Table.from_pylist(
        [blank | dict(zip(names, row, strict=True)) for row in rows],
        schema=schema_of(TRACE_COLUMNS),
    )
    pq.write_table(table, path, row_group_size=row_group_size)


@pytest.mark.parametrize("row_group_size", [1, 2, 3, 100])
def test_runs_may_go_on_in_the_next_row_group_and_may_have_no_job(tmp_path, row_group_size):
    path = tmp_path / "trace.parquet"
    write_trace(
        path,
        [
            (0, 0, 0, "rm", "checkQueue", "rm", 0),
            (0, 1, 1, "am1", "runJob", "rm", 1),
            (0, 2, 1, "rm", "checkQueue", "rm", 1),
            (0, 3, 3, "rm", "update", "am1", 3),
            (1, 0, 0, "rm", "checkQueue", "rm", 0),
            (2, 0, 0, "rm", "checkQueue", "rm", 0),
            (2, 1, 2, "am1", "runJob", "rm", 2),
        ],
        row_group_size,
    )
    shares = utilisation(traced_runs(path), 1, 4)
    assert shares == pytest.approx(np.array([[0, 1, 2, 1]]) / 3)


def test_the_mean_over_time_is_the_busy_time_that_was_counted(run):
    plan, results = run
    over_time = utilisation_over_time(plan, results)
    assert [each.policy for each in over_time] == ["EDF", "SJF"]
    for each, cell in zip(over_time, [plan.cells[1], plan.cells[3]], strict=True):
        assert each.replications == 4
        assert each.shares.shape == (2, 20)
        [part] = row_groups(results.part(cell))
        counted = [np.mean(part[f"busy_am{number}"].to_numpy()) for number in (1, 2)]
        assert each.shares.sum(axis=1) == pytest.approx(counted)


def test_policies_without_traces_are_left_out(run):
    plan, results = run
    results.table(TRACES, plan.cells[1]).unlink()
    assert [each.policy for each in utilisation_over_time(plan, results)] == ["SJF"]


def test_damaged_traces_are_named(run):
    plan, results = run
    path = results.table(TRACES, plan.cells[1])
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(ResultsError, match=rf"{path.name} is damaged.*--resume --trace"):
        utilisation_over_time(plan, results)
