"""Jobs of containers on the command line, as a user would."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from rebecsim.workloads import read_sls_jobs, read_sls_topology
from tests.conftest import Run

SWIM = "job0\t0\t0\t300000000\t100\t50\njob1\t9\t9\t5\t0\t7\n"


@pytest.fixture
def run(run: Run, tmp_path: Path) -> Run:
    """Run a command about workloads in the directory of the test."""
    return partial(run, "workload", cwd=tmp_path)


def test_a_trace_is_drawn_looked_at_and_written_in_both_dialects(run, tmp_path):
    made = run("generate", "--sls", "--out", "made.json", "--jobs", 30, "--tasks", "constant:4")
    assert made.stdout == "30 jobs with 120 tasks in made.json\n"
    shown = run("info", "made.json", columns=80)
    assert "tasks           120: 0 maps, 120 reduces\n" in shown.stdout.replace("  \n", "\n")
    assert max(map(len, shown.stdout.splitlines())) <= 80
    hadoop = run("convert", "made.json", "--out", "hadoop.json.gz", "--dialect", "hadoop")
    assert hadoop.returncode == 0, hadoop.stderr
    assert read_sls_jobs(tmp_path / "hadoop.json.gz") == read_sls_jobs(tmp_path / "made.json")
    back = run("convert", "hadoop.json.gz", "--out", "back.json")
    assert back.stdout == "30 jobs with 120 tasks in back.json\n"
    assert (tmp_path / "back.json").read_bytes() == (tmp_path / "made.json").read_bytes()


def test_a_trace_is_known_by_what_it_begins_with(run, tmp_path):
    run("generate", "--sls", "--out", "made.json", "--jobs", 3, "--tasks", "constant:4")
    run("nodes", "--nodes", "5", "--out", "nodes.json")
    for name, known_by in (("made.json", "jobs.trace"), ("nodes.json", "topo_5")):
        (tmp_path / known_by).write_text("\n" + (tmp_path / name).read_text())
        shown, expected = run("info", known_by), run("info", name)
        assert (shown.returncode, shown.stderr) == (0, "")
        assert shown.stdout.splitlines()[1:] == expected.stdout.splitlines()[1:]
    refused = run("slice", "jobs.trace", "--out", "cut.swf")
    assert refused.returncode == 2
    assert "jobs.trace: holds jobs of containers; use `workload info`" in refused.stderr


def test_the_same_seed_gives_the_same_trace(run, tmp_path):
    for name, *options in (
        ("a", "--seed", 1),
        ("b", "--seed", 1),
        ("c", "--seed", 2),
        ("d", "--seed", 1, "--like", "dss"),
    ):
        assert run("generate", "--sls", "--out", f"{name}.json", *options).returncode == 0
    a, b, c, d = ((tmp_path / f"{name}.json").read_bytes() for name in "abcd")
    assert a == b
    assert len({a, c, d}) == 3


def test_a_trace_of_swim_becomes_one_of_sls(run, tmp_path):
    (tmp_path / "trace.tsv").write_text(SWIM)
    shown = run("info", "trace.tsv")
    assert "tasks           5: 4 maps, 1 reduces" in shown.stdout
    assert "map input       0.3 GB" in shown.stdout
    options = ("--block", 1024, "--reducer", 1, "--task-memory", 700, "--startup", 0)
    assert run("convert", "trace.tsv", "--out", "trace.json", *options).returncode == 0
    first, second = read_sls_jobs(tmp_path / "trace.json")
    assert [(each.kind, each.count, each.memory) for each in first.classes] == [
        ("map", 1, 700),
        ("reduce", 1, 700),
    ]
    assert (second.start, len(second.classes)) == (9000, 1)


def test_a_trace_with_labels_waits_and_nodes_says_so(run, tmp_path):
    tasks = [{"duration.ms": 5}, {"duration.ms": 7, "container.type": "reduce"}]
    jobs = [
        {"num.nodes": 4, "num.racks": 2},
        {"job.id": "job_1", "job.label.expression": "gpu", "job.tasks": tasks},
        {"job.id": "job_2", "job.start.ms": "job_1", "job.user": "a", "job.tasks": tasks},
    ]
    (tmp_path / "trace.json").write_text(json.dumps(jobs))
    shown = run("info", "trace.json").stdout
    for fact in (
        "jobs that wait  1, for another to finish",
        "tasks           4: 2 maps, 2 reduces",
        "users           2",
        "labels          gpu",
        "nodes           4 in 2 racks",
    ):
        assert fact in shown


def test_nodes_are_written_as_a_topology(run, tmp_path):
    groups = ("--nodes", "2:memory=64000,cores=16", "--nodes", "1")
    done = run("nodes", *groups, "--racks", 2, "--out", "nodes.json")
    assert done.stdout == "3 nodes in 2 racks in nodes.json\n"
    first, second = read_sls_topology(tmp_path / "nodes.json")
    assert [(node.name, node.memory, node.cores) for node in (*first.nodes, *second.nodes)] == [
        ("node1", 64000, 16),
        ("node2", 64000, 16),
        ("node3", None, None),
    ]


def test_the_nodes_of_a_topology_are_shown_kind_by_kind(run, tmp_path):
    nodes = [{"node": "a", "memory-mb": 4000, "vcores": 8, "labels": "g(exclusive=false)"}]
    nodes += [{"node": name, "memory-mb": 1000, "vcores": 2} for name in "bc"] + [{"node": "d"}]
    (tmp_path / "n.json").write_text(json.dumps({"rack": "r", "nodes": nodes}))
    lines = [line.split() for line in run("info", "n.json").stdout.splitlines()]
    assert ["4", "nodes", "in", "1", "rack"] in lines
    cells = [[word for word in line if word != "│"] for line in lines if line[:1] == ["│"]]
    assert ["2", "1,000", "2", "2,000", "4"] in cells
    assert ["1", "not", "said", "not", "said", "not", "said", "not", "said"] in cells
    assert any(row[:5] == ["1", "4,000", "8", "4,000", "8"] and "g" in row for row in cells)
    refused = run("info", "n.json", "--block", "3")
    assert (refused.returncode, "--block: for traces of SWIM" in refused.stderr) == (2, True)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("generate", "--out", "x.swf", "--tasks", "constant:1"), "--tasks: give --sls for jobs"),
        (("generate", "--sls", "--out", "x.swf"), "x.swf: the name of a trace should end with"),
        (("generate", "--sls", "--out", "no/x.json"), "no/x.json: there is no directory no"),
        (("generate", "--sls", "--out", "x.json", "--users", "3"), "--users: for logs in SWF only"),
        (("generate", "--sls", "--out", "x.json", "--like", "a.swf"), "--like a.swf: with --sls"),
        (
            ("generate", "--sls", "--out", "x.json", "--memory", "unifrom:1-2"),
            "--memory unifrom:1-2: 'unifrom' is not a shape; did you mean uniform?",
        ),
        (
            ("generate", "--sls", "--out", "x.json", "--memory", "constant:150"),
            "memory constant:150-150: use a multiple of 100 MB",
        ),
        (("info", "t.json", "--chart", "x.png"), "--chart: for logs in SWF only"),
        (("info", "t.json", "--block", "3"), "--block: for traces of SWIM"),
        (("info", "t.json", "--startup", "0"), "--startup: for traces of SWIM"),
        (("info", "log.swf", "--task-memory", "3"), "--task-memory: for jobs of containers only"),
        (("convert", "t.json", "--out", "x.csv"), "x.csv: the name of a trace should end with"),
        (("convert", "t.json", "--out", "x.json"), "t.json:1: job_0: waits for itself"),
        (
            ("slice", "t.json", "--out", "x.swf"),
            "t.json: holds jobs of containers; use `workload info",
        ),
        (("metrics", "t.json"), "t.json: holds jobs of containers; use `workload info`"),
        (("nodes", "--nodes", "3:memory=x", "--out", "x.json"), "write it as 80:memory=64000,co"),
        (("nodes", "--nodes", "3:mem=5", "--out", "x.json"), "no mem; did you mean memory?"),
        (
            ("nodes", "--nodes", "3:cores=0", "--out", "x.json"),
            "each with at least 1 MB and 1 core",
        ),
        (("nodes", "--nodes", "9999999999", "--out", "x.json"), "REBECSIM_MAX_NODES=9999999999"),
        (("nodes", "--nodes", "3", "--racks", "4", "--out", "x.json"), "3 nodes in 4 racks"),
    ],
)
def test_what_has_no_sense_is_refused_and_nothing_written(run, tmp_path, words, problem):
    waiting = {"job.id": "job_0", "job.start.ms": "job_0", "job.tasks": []}
    (tmp_path / "t.json").write_text(json.dumps(waiting))
    (tmp_path / "log.swf").write_text("1 0 0 5 1 -1 -1 1 5 -1 1 1 1 1 1 -1 -1 -1\n")
    done = run(*words)
    assert done.returncode == 2
    assert problem in done.stderr
    assert not (tmp_path / "x.json").exists()
