"""The program as a user runs it: commands, output, exit codes, and what is left on disk."""

import csv
import json
import os
import signal
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from rebecsim.cli import running
from tests import held
from tests.waiting import PATIENCE, wait_for

MODELS = Path(__file__).resolve().parents[2] / "models"

SCENARIO = """\
kind = "dispatch"
name = "tiny"
title = "A tiny comparison"
policies = ["EDF", "FIFO"]
app_masters = [1, 2]
queue_size = 4
epsilon = 0.5
replications = 10
ticks = 30

[[arrivals]]
pattern = "uniform"
count = 1

[[lengths]]
pattern = "nondet"
minimum = 1
maximum = 4
"""


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "tiny.toml"
    path.write_text(SCENARIO)
    return path


def names(directory):
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("*"))


@pytest.fixture(scope="module")
def compared(run, tmp_path_factory):
    """What a comparison has printed, and the directory with it in `out`; only to be read."""
    place = tmp_path_factory.mktemp("compared")
    (place / "tiny.toml").write_text(SCENARIO)
    done = run("compare", "tiny.toml", "--out", "out", cwd=place)
    assert done.returncode == 0, done.stderr
    return done, place


def test_compare_writes_everything_and_says_where(compared):
    done, place = compared
    for text in ("A tiny comparison", "EDF", "FIFO", "Deadline misses", "±", "out/report.html"):
        assert text in done.stdout
    out = place / "out"
    assert len(list((out / "parts").glob("*.parquet"))) == 4
    assert {path.suffix for path in (out / "charts").iterdir()} == {".png", ".svg"}
    with (out / "table.csv").open() as file:
        assert [row["policy"] for row in csv.DictReader(file)] == ["EDF", "FIFO"]
    assert "A tiny comparison" in (out / "report.html").read_text()
    record = json.loads((out / "run.json").read_text())
    assert record["scenario"]["seed"] == 2015
    assert "numpy" in record["versions"]
    assert not [name for name in names(out) if name.endswith(".tmp")]


def test_compare_is_reproducible_for_any_number_of_workers(run, compared, tmp_path):
    one, two = compared[1] / "out", tmp_path / "out"
    done = run("compare", compared[1] / "tiny.toml", "--out", two, "--workers", 2)
    assert done.returncode == 0, done.stderr
    for part in sorted((one / "parts").iterdir()):
        assert part.read_bytes() == (two / "parts" / part.name).read_bytes()
    for name in ("table.csv", "by_cluster_size.csv", "charts/deadline_misses.svg"):
        assert (one / name).read_bytes() == (two / name).read_bytes()


def test_an_existing_run_is_kept_unless_resumed(run, compared):
    first, place = compared
    command = ("compare", "tiny.toml", "--out", "out")
    before = {name: (place / "out" / name).stat().st_mtime_ns for name in names(place / "out")}
    refused = run(*command, cwd=place)
    assert refused.returncode == 2
    assert "--resume" in refused.stderr
    after = {name: (place / "out" / name).stat().st_mtime_ns for name in names(place / "out")}
    assert after == before
    resumed = run(*command, "--resume", cwd=place)
    assert (resumed.returncode, resumed.stdout) == (0, first.stdout)


@pytest.mark.usefixtures("without_charts")
def test_ctrl_c_keeps_finished_cells_and_resume_goes_on(run, tmp_path):
    held.fill(tmp_path)
    with held.start(tmp_path, "--workers", 2) as process:
        try:
            wait_for(lambda: held.parts(tmp_path) or process.poll() is not None)
            os.killpg(process.pid, signal.SIGINT)
            _, errors = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    assert process.returncode == 130, errors
    assert "continue with --resume" in errors
    left = held.parts(tmp_path)
    assert 1 <= len(left) <= held.FREE
    assert not list((tmp_path / "held/parts").glob("*.tmp"))

    resumed = run(*held.COMMAND, "--resume", cwd=tmp_path)
    assert resumed.returncode == 0, resumed.stderr
    (tmp_path / "held").rename(tmp_path / "in two")
    whole = run(*held.COMMAND, cwd=tmp_path)
    assert whole.returncode == 0
    assert len(held.parts(tmp_path)) == held.CELLS
    for part in held.parts(tmp_path):
        assert part.read_bytes() == (tmp_path / "in two" / "parts" / part.name).read_bytes()


def test_the_end_waits_for_what_is_being_imported(tmp_path, monkeypatch):
    """Python that ends in the midst of an import may wait for ever."""
    (tmp_path / "takes_long.py").write_text("import time; time.sleep(0.2); done = True\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(KeyboardInterrupt), running._importing("takes_long"):
        raise KeyboardInterrupt
    assert sys.modules.pop("takes_long").done


@pytest.mark.usefixtures("without_charts")
def test_compare_keeps_traces_on_request(run, scenario, tmp_path):
    options = ("--trace", "--replications", 3, "--seed", 1, "--no-orders")
    done = run("compare", scenario, "--out", tmp_path / "out", *options)
    assert done.returncode == 0, done.stderr
    traces = sorted((tmp_path / "out" / "traces").iterdir())
    assert len(traces) == 4
    assert pq.read_table(traces[0]).num_rows > 3 * 30


def test_generate_both_forms(run, scenario, tmp_path):
    done = run("generate", scenario, "--out", tmp_path / "models")
    assert done.returncode == 0, done.stderr
    assert "4 models" in done.stdout
    generated = sorted((tmp_path / "models").iterdir())
    assert [path.suffix for path in generated] == [".rebeca"] * 4
    checked = run("check", *generated)
    assert checked.returncode == 0
    assert checked.stdout.count(": ok, 2 classes") == 4

    python = run("generate", scenario, "--out", tmp_path / "python", "--form", "python")
    assert python.returncode == 0, python.stderr
    module = tmp_path / "python" / f"{generated[1].stem}.py"
    runs = [run("simulate", path, "--until", 12, "--seed", 5) for path in (generated[1], module)]
    assert runs[0].returncode == 0
    assert runs[0].stdout == runs[1].stdout

    generated[0].write_text("mine")
    again = run("generate", scenario, "--out", tmp_path / "models")
    assert (again.returncode, generated[0].read_text()) == (2, "mine")
    assert "--force" in again.stderr
    assert run("generate", scenario, "--out", tmp_path / "models", "--force").returncode == 0
    assert "ResourceManager" in generated[0].read_text()


def test_simulate_saves_and_replays(run, tmp_path):
    model = MODELS / "ticket_service.rebeca"
    saved = tmp_path / "run.json"
    done = run("simulate", model, "--until", 20, "--seed", 3, "--save", saved)
    assert done.returncode == 0, done.stderr
    assert "office: buy(customer=ann)" in done.stdout
    for path in (model, MODELS / "ticket_service.py"):
        replayed = run("simulate", path, "--replay", saved)
        assert replayed.returncode == 0
        assert replayed.stdout.splitlines() == done.stdout.splitlines()[:-1]
    sooner = run("simulate", model, "--replay", saved, "--until", 10)
    assert sooner.stdout.splitlines()[-1].startswith("time limit")
    assert len(sooner.stdout) < len(done.stdout)
    other = run("simulate", model, "--until", 20, "--seed", 4)
    assert other.stdout != done.stdout


def test_simulate_ends_with_1_after_a_violation(run, tmp_path):
    model = tmp_path / "full.rebeca"
    model.write_text(
        "reactiveclass A(2) { A() { self.go(); } msgsrv go() { self.go(); self.go(); } }\n"
        "main { A a():(); }\n"
    )
    done = run("simulate", model)
    assert done.returncode == 1
    assert "queue overflow" in done.stdout


def test_scenarios_lists_those_of_the_package(run):
    done = run("scenarios")
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.splitlines()][:2] == [
        "against_edf",
        "against_fifo",
    ]


def test_reproduce_puts_published_figures_beside_ours(run, tmp_path):
    done = run("reproduce", "for_edf", "--replications", 2, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    for figure in ("25.96", "70.37", "77.20", "31.16", "99.89"):
        assert figure in done.stdout
    assert names(tmp_path / "out")[0] == "for_edf_fair"
    again = run("reproduce", "for_edf", "--replications", 2, "--out", tmp_path / "out")
    assert again.stdout == done.stdout


BAD_SCENARIOS = {
    "polices = 1\n": ["tiny.toml:1", "polices"],
    'policies = "EDF"': ["tiny.toml:3", "policies"],
    "policies = []": ["tiny.toml:3", "policies"],
    'policies = ["XYZ"]': ["tiny.toml:3", "policies[0]", "XYZ"],
    "app_masters = [0]": ["tiny.toml:4", "app_masters[0]"],
    "queue_size = -1": ["tiny.toml:5", "queue_size"],
    'epsilon = "much"': ["tiny.toml:6", "epsilon"],
    'name = "{{ 7 * 7 }}"': ["tiny.toml:1", "name"],
    "name = ": ["tiny.toml:1"],
}


@pytest.mark.parametrize("line", BAD_SCENARIOS)
def test_bad_scenarios(line, scenario, tmp_path, run):
    key = line.split(" = ")[0]
    lines = [each for each in SCENARIO.splitlines(keepends=True) if not each.startswith(key)]
    position = {"policies": 2, "app_masters": 3, "queue_size": 4, "epsilon": 5}.get(key, 0)
    lines.insert(position, line if line.endswith("\n") else f"{line}\n")
    scenario.write_text("".join(lines))
    before = names(tmp_path)
    for command in (["compare"], ["generate"]):
        code, _, errors = run(*command, scenario, "--out", tmp_path / "out")
        assert code == 2
        for part in BAD_SCENARIOS[line]:
            assert part in errors
    assert names(tmp_path) == before


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["compare", "no_such", "--out", "out"], ["no_such", "for_edf"]),
        (["compare", "for_edf", "--out", "file/out"], ["file"]),
        (["generate", "for_edf", "--out", "file/out"], ["file"]),
        (["reproduce", "no_such"], ["no_such", "for_edf"]),
        (["compare", "for_edf", "--out", "out", "--workers", "0"], ["--workers"]),
        (["compare", "for_edf", "--out", "out", "--replications", "0"], ["--replications"]),
        (["check", "missing.rebeca"], ["missing.rebeca"]),
        (["check", "syntax.rebeca"], ["syntax.rebeca:1:17", "queue"]),
        (["simulate", "types.rebeca"], ["types.rebeca:3", "boolean"]),
        (["simulate", "missing.py"], ["missing.py"]),
        (["simulate", "empty.py"], ["empty.py", "model"]),
        (["simulate", "broken.py"], ["broken.py", "ZeroDivisionError"]),
        (["simulate", "good.rebeca", "--replay", "file"], ["file", "JSON"]),
        (["simulate", "good.rebeca", "--replay", "missing.json"], ["missing.json"]),
        (["compare"], ["Missing argument"]),
    ],
)
def test_bad_input(arguments, parts, tmp_path, run, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("x")
    (tmp_path / "empty.py").write_text("")
    (tmp_path / "broken.py").write_text("1 / 0")
    (tmp_path / "good.rebeca").write_text(
        "reactiveclass A(2) { A() { self.go(); } msgsrv go() { } }\nmain { A a():(); }\n"
    )
    (tmp_path / "syntax.rebeca").write_text("reactiveclass A() { }\n")
    (tmp_path / "types.rebeca").write_text(
        "reactiveclass A(2) {\n  statevars { boolean b; }\n  A() { b = 1; }\n}\n"
        "main { A a():(); }\n"
    )
    before = names(tmp_path)
    code, _, errors = run(*arguments)
    assert code == 2
    for part in parts:
        assert part in errors
    assert names(tmp_path) == before


HOSTILE = """\
reactiveclass A(2) {
    statevars { int x; }
    A() { self.go(); }
    msgsrv go() {
        assertion(true, "'); open('stolen', 'w'); ('");
        assertion(true, "\\"\\"\\"\\n\\nopen('stolen', 'w')\\n");
        assertion(x == 0, "{{ 7 * 7 }}{% raw %}");
    }
}
main { A a():(); }
"""


@pytest.mark.parametrize(
    "name",
    ["plain.rebeca", '"""; open("stolen", "w"); """.rebeca', "a\nopen('stolen', 'w').rebeca"],
)
def test_a_model_cannot_run_foreign_code(run, name, tmp_path):
    model = tmp_path / name
    model.write_text(HOSTILE)
    done = run("simulate", model, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "stolen").exists()
