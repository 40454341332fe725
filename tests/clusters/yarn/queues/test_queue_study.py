"""Files of queues compared: tables, figures, and the same bytes for any number of workers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pyarrow.compute as pc
import pytest

from rebecsim.clusters.kit.report import values_of
from rebecsim.clusters.scenarios import load
from rebecsim.clusters.yarn.inputs import run_size
from rebecsim.clusters.yarn.queue_files.capacity_settings import PREFIX
from rebecsim.clusters.yarn.report.queues import queue_section, queue_shares_figure
from rebecsim.clusters.yarn.report.sections import busiest_window, gantt_figure, has_queues
from rebecsim.clusters.yarn.report.stored import StoredTables, read_shown
from rebecsim.clusters.yarn.tables import QUEUE_JOBS, QUEUE_TABLES
from rebecsim.studies.plan import Plan
from rebecsim.studies.results import Results
from rebecsim.studies.scenario_files import ScenarioError
from tests.clusters.yarn.queues.files import TWO_QUEUES
from tests.plans import run_plan

SCENARIO = """\
kind = "yarn"
name = "queues"
policies = ["FIFO"]
baseline = "before"
load_factors = [1.0, 2.0]
schedulers = [
    { name = "before", queues = "before.xml" },
    { name = "after", queues = "after.xml" },
    { name = "fair", queues = "fair.xml" },
]

[workload]
trace = "jobs.json"

[cluster]
nodes = [{ count = 4, memory = 10240, cores = 16 }]
"""


def _xml(values: dict[str, str]) -> str:
    texts = (
        f"<property><name>{PREFIX}{key}</name><value>{value}</value></property>"
        for key, value in values.items()
    )
    return f"<configuration>{''.join(texts)}</configuration>"


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    folder = tmp_path_factory.mktemp("queues")
    jobs = [
        {
            "job.id": f"job_{number}",
            "job.user": f"user{number % 2}",
            "job.queue.name": "ab"[number % 2],
            "job.start.ms": number * 4000,
            "job.tasks": [{"count": 15, "duration.ms": 20_000}],
        }
        for number in range(1, 7)
    ]
    (folder / "jobs.json").write_text("\n".join(map(json.dumps, jobs)))
    (folder / "before.xml").write_text(_xml(TWO_QUEUES))
    (folder / "after.xml").write_text(_xml({**TWO_QUEUES, "root.a.maximum-applications": "1"}))
    (folder / "fair.xml").write_text('<allocations><queue name="a"/></allocations>')
    (folder / "scenario.toml").write_text(SCENARIO)
    return load(folder / "scenario.toml").plan()


@pytest.fixture(scope="module")
def results(plan: Plan, tmp_path_factory: pytest.TempPathFactory) -> Results:
    found = Results(tmp_path_factory.mktemp("results"))
    run_plan(plan, found)
    return found


@pytest.fixture(scope="module")
def shown(plan: Plan, results: Results) -> dict[str, StoredTables]:
    return dict(read_shown(plan, results))


def _tables(results: Results) -> dict[str, bytes]:
    root = results.directory
    return {
        str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*.parquet"))
    }


@pytest.mark.slow
def test_a_scheduler_of_a_file_is_not_taken_for_one_that_looks_ahead(plan: Plan) -> None:
    """It is the file that says how the cluster is shared, whatever the scheduler is called."""
    setup = next(cell.setup for cell in plan.cells if cell.setup.scheduler == "before")
    (before, *others) = setup.scenario.schedulers
    renamed = setup.scenario.model_copy(
        update={"schedulers": (before.model_copy(update={"name": "PEEK_AT"}), *others)}
    )
    called_otherwise = replace(setup, scenario=renamed, scheduler="PEEK_AT")
    assert run_size(called_otherwise) == run_size(setup)


def test_two_workers_write_the_same_bytes(plan: Plan, results: Results, tmp_path: Path) -> None:
    again = Results(tmp_path)
    run_plan(plan, again, workers=2)
    one = _tables(results)
    assert one
    assert _tables(again) == one


def test_every_table_has_its_columns(shown: dict[str, StoredTables]) -> None:
    for each in shown.values():
        assert set(each.queues) == set(QUEUE_TABLES)
        for name, table in each.queues.items():
            assert table.column_names == list(QUEUE_TABLES[name])


def test_refused_jobs_are_left_out_where_jobs_are_compared(
    shown: dict[str, StoredTables],
) -> None:
    refused = shown["after"].queues["queue_jobs"].to_pydict()
    missing = [
        number
        for number, why in zip(refused["job"], refused["refused"], strict=True)
        if why == "applications"
    ]
    assert missing
    for each in shown.values():
        assert not set(values_of(each.jobs, "job").tolist()).intersection(missing)
    assert refused["ended"].count(None) == len(missing)


def test_what_queues_have_adds_up(shown: dict[str, StoredTables]) -> None:
    usage = shown["before"].queues["queue_usage"].to_pydict()
    of_path: dict[str, list[float]] = {}
    for path, memory in zip(usage["queue"], usage["memory"], strict=True):
        of_path.setdefault(path, []).append(memory)
    both = [a + b for a, b in zip(of_path["root.a"], of_path["root.b"], strict=True)]
    assert of_path["root"] == pytest.approx(both)
    assert of_path["root"] == pytest.approx(values_of(shown["before"].occupancy, "memory"))


def test_the_section_names_queues_and_what_they_have(shown: dict[str, StoredTables]) -> None:
    section = queue_section(list(shown.values()), "", ("Of the first runs.",))
    assert section.terminal is not None
    assert section.terminal.title == "Of the first runs."
    assert section.tables[0].headings == ("Queue", "FIFO", "before", "after", "fair")
    guaranteed = next(each for each in section.tables if each.title == "Guaranteed (%)")
    assert ("root.a", ("-", "40.0", "40.0", "50.0")) in guaranteed.rows


def test_each_leaf_has_a_panel(shown: dict[str, StoredTables]) -> None:
    figure = queue_shares_figure([shown["before"], shown["after"]])
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == ["root.a", "root.b"]
    dashed = [line for line in figure.axes[0].lines if line.get_linestyle() == "--"]
    assert [line.get_ydata()[0] for line in dashed] == [40.0, 40.0]


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        ('policies = ["FIFO"]', 'policies = ["before"]', "no YARN scheduler is called 'before'"),
        (
            'name = "after"',
            'name = "BEFORE"',
            "two schedulers have the same name: before and BEFORE",
        ),
        ('baseline = "before"', 'baseline = "SRTF"', "should be one of the policies"),
        ('queues = "after.xml"', 'queues = "none.xml"', "schedulers.1.queues: there is no file"),
        ('name = "queues"', 'name = "queues"\ncompatibility = "dss"', "DSS has no files of queues"),
    ],
)
def test_what_is_wrong_with_schedulers_is_said(
    plan: Plan, before: str, after: str, problem: str
) -> None:
    assert before in SCENARIO
    file = plan.folder / "wrong.toml"
    file.write_text(SCENARIO.replace(before, after, 1))
    with pytest.raises(ScenarioError) as raised:
        load(file)
    assert problem in str(raised.value)


def test_containers_have_the_colour_of_their_queue(shown: dict[str, StoredTables]) -> None:
    runs = list(shown.values())
    assert has_queues(runs)
    figure = gantt_figure(runs, busiest_window(runs))
    (legend,) = figure.legends
    colours = {
        text.get_text(): patch.get_facecolor()
        for text, patch in zip(legend.get_texts(), legend.get_patches(), strict=True)
    }
    queues = {name for name in colours if name.startswith("root.")}
    assert len(queues) == 2
    for axes in figure.axes:
        (bars,) = axes.collections
        drawn = {tuple(face) for face in bars.get_facecolors().tolist()}
        assert drawn == {colours[name] for name in queues}


def test_one_queue_alone_has_no_colour(shown: dict[str, StoredTables]) -> None:
    (run, *_) = shown.values()
    assert not has_queues([replace(run, queues={})])
    jobs = run.queues[QUEUE_JOBS]
    mine = jobs.filter(pc.equal(jobs.column("queue"), jobs.column("queue")[0]))
    assert not has_queues([replace(run, queues={**run.queues, QUEUE_JOBS: mine})])
