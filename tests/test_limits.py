"""What is small and stands for a lot is refused before it takes memory or time."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from benchmarks import reading
from rebecsim.errors import UserError
from rebecsim.exploration import Checks, Limits, explore
from rebecsim.files import (
    AUTOMATON,
    FILE,
    JOBS,
    LIMITS,
    TASKS,
    VALUES,
    LimitError,
    RunSize,
    Size,
    read_file,
    read_json,
    require_small_json,
)
from rebecsim.generate import build_model
from rebecsim.lang import (
    RebecaCheckError,
    check_property,
    check_source,
    parse_property,
)
from rebecsim.simulation.simulator import load_run
from rebecsim.studies.scenario_files import read_scenario_text, scenario_text
from rebecsim.web.studies.scenarios import values_of
from rebecsim.workloads import read_sls_jobs, read_sls_topology, read_swim
from rebecsim.workloads.container_jobs import AlikeNodes, racks_of
from rebecsim.workloads.logs import read_log
from rebecsim.workloads.workflows import read_dax, read_wfcommons
from tests.docs.markdown import ROOT

PAGE = ROOT / "docs/reference/limits.md"
READERS = reading._readers()
JOB = {"job.id": "job_0", "job.tasks": [{"duration.ms": 7, "count": 4}]}
MODEL = (
    "reactiveclass A(3) {{ statevars {{ int x; {} }} A() {{ self.go(); }} msgsrv go() {{ {} }} }}"
)
MODEL += " main {{ A a():(); }}"


@pytest.fixture
def lowered(monkeypatch):
    def lower(**limits):
        for name, most in limits.items():
            monkeypatch.setenv(f"REBECSIM_MAX_{name.upper()}", str(most))

    return lower


def written(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text)
    return folder / name


# --- the table ------------------------------------------------------------------------------------


def test_the_reference_page_has_the_table():
    rows = [
        f"| {each.name} | {each.default:,} {each.unit} | {each.bounds} | "
        f"{'fixed' if each.is_fixed else f'`{each.variable}`'} |"
        for each in LIMITS
    ]
    table = "\n".join(["| Name | Limit | Bounds | Variable |", "| --- | --- | --- | --- |", *rows])
    assert table in PAGE.read_text("utf-8"), table


def test_a_variable_raises_a_limit(lowered):
    with pytest.raises(LimitError, match=r"^t: 1,000,001 jobs; the limit is 1,000,000 for .* set "):
        JOBS.require(1_000_001, "t")
    lowered(jobs=1_000_001)
    JOBS.require(1_000_001, "t")


@pytest.mark.parametrize("text", ["0", "-1", "1e6", "x", "٣", "9" * 30])
def test_a_variable_that_is_no_number_is_refused(lowered, text):
    lowered(jobs=text)
    with pytest.raises(UserError, match="REBECSIM_MAX_JOBS should be a whole number above 0"):
        JOBS.require(1)


def test_what_an_error_says_is_enough(lowered):
    with pytest.raises(LimitError) as raised:
        TASKS.require(10**9)
    variable, _, value = str(raised.value).rpartition(" ")[2].partition("=")
    assert variable == TASKS.variable
    lowered(tasks=value)
    TASKS.require(10**9)


# --- files ----------------------------------------------------------------------------------------


def packed(folder: Path, name: str, before: bytes, megabytes: int) -> Path:
    with gzip.open(folder / name, "wb") as file:
        file.write(before)
        for _ in range(megabytes):
            file.write(b" " * 999_999 + b"\n")
    return folder / name


def test_a_packed_file_is_counted_while_it_is_unpacked(tmp_path, lowered):
    trace = packed(tmp_path, "blanks.json.gz", b"[", 3)
    lowered(file=2_000_000)
    with pytest.raises(
        LimitError, match=r"unpacks to more than 2,000,000 bytes.*REBECSIM_MAX_FILE"
    ):
        read_sls_jobs(trace)


def test_the_length_that_a_packed_file_gives_is_not_believed(tmp_path, lowered):
    trace = packed(tmp_path, "blanks.json.gz", b"[", 3)
    trace.write_bytes(trace.read_bytes()[:-4] + bytes(4))  # the length, by itself
    lowered(file=2_000_000)
    with pytest.raises(LimitError, match="unpacks to more than"):
        read_sls_jobs(trace)


@pytest.mark.parametrize("name", ["log.swf", "log.swf.gz"])
def test_a_log_may_not_be_too_long(tmp_path, lowered, name):
    rows = reading.swf(50).encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(rows) if name.endswith(".gz") else rows)
    assert len(read_log(path)) == 50
    lowered(log=len(rows) - 1)
    with pytest.raises(LimitError, match="REBECSIM_MAX_LOG"):
        read_log(path)


def test_comments_of_a_log_are_bounded(tmp_path):
    path = tmp_path / "comments.swf.gz"
    with gzip.open(path, "wb") as file:
        for _ in range(3):
            file.write((b";" + b" " * 998 + b"\n") * 1000)
    assert path.stat().st_size < 20_000
    with pytest.raises(LimitError, match="1,048,576 for the comments of a log"):
        read_log(path)


@pytest.mark.parametrize(("name", "made"), [("log.swf", reading.swf), ("log.pbs", reading.pbs)])
def test_jobs_of_a_log_are_bounded(tmp_path, lowered, name, made):
    path = written(tmp_path, name, made(30))
    lowered(rows=29)
    with pytest.raises(LimitError, match="30 jobs; the limit is 29"):
        read_log(path)


def test_a_file_is_read_no_further_than_its_limit(tmp_path, lowered):
    path = tmp_path / "sparse.json"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    lowered(file=1000)
    with pytest.raises(LimitError, match="1,099,511,627,776 bytes; the limit is 1,000"):
        read_file(path)
    assert FILE.most == 1000


@pytest.mark.parametrize(
    "read", [read_scenario_text, READERS["model"].read, READERS["properties"].read]
)
def test_what_is_written_by_hand_is_short(tmp_path, read):
    path = written(tmp_path, "large", "// " + "x" * (1 << 20))
    with pytest.raises(LimitError, match="1,048,579 bytes; the limit is 1,048,576 for a model"):
        read(path)


# --- JSON, XML, TOML ------------------------------------------------------------------------------


@pytest.mark.parametrize("read", [read_sls_jobs, read_sls_topology, read_wfcommons, load_run])
def test_json_is_bounded_before_it_is_parsed(tmp_path, lowered, read):
    lists = written(tmp_path, "lists.json", '{"workflow":[' + "[]," * 1000 + "[]]}")
    lowered(values=1000)
    with pytest.raises(LimitError, match="2,003 values; the limit is 1,000"):
        read(lists)
    deep = written(tmp_path, "deep.json", "[" * 500 + "]" * 500)
    with pytest.raises(LimitError, match="500 levels; the limit is 200"):
        read(deep)


def test_brackets_in_texts_are_not_nested():
    require_small_json(json.dumps(["[" * 500, '"\\', "]{" * 300]).encode(), "")
    with pytest.raises(LimitError, match="201 levels"):
        require_small_json(b"[" * 201 + b'"]]"' + b"]" * 201, "")


def test_values_that_are_read_are_no_more_than_were_counted(tmp_path):
    text = json.dumps({"a": [1, [2, {"b": "x, y"}], {}], "c": None})
    found = read_json(written(tmp_path, "a.json", text))
    values = [found, *found.values(), *found["a"], *found["a"][1], "x, y"]
    assert len(values) <= sum(map(text.count, ",[{")) + 1 <= VALUES.most


def test_a_dotted_key_is_not_too_long():
    text = 'title = "' + "a." * 300 + '"\n' + "a." * 150 + "a = 1\n"
    assert len(scenario_text("s.toml", text.replace("a." * 300, "a"), Path()).values) == 2
    with pytest.raises(LimitError, match=r"s\.toml: 15,000 levels; the limit is 200"):
        scenario_text("s.toml", ".".join("a" * 15_000) + " = 1", Path())


# --- counts ---------------------------------------------------------------------------------------


def test_a_count_of_jobs_is_checked_before_they_are_made(tmp_path, lowered):
    many = [{**JOB, "job.count": 1_000_001}]
    with pytest.raises(LimitError, match=r"1: job_0: 'job.count': 1,000,001 jobs; the limit is"):
        read_sls_jobs(written(tmp_path, "t.json", json.dumps(many)))
    both = [{**JOB, "job.count": 600_000}, {**JOB, "job.id": "job_1", "job.count": 600_000}]
    with pytest.raises(LimitError, match="1,200,000 jobs; the limit is 1,000,000"):
        read_sls_jobs(written(tmp_path, "t.json", json.dumps(both)))


def test_jobs_that_are_the_same_differ_in_their_name_only(tmp_path):
    trace = [{**JOB, "job.count": 3}, {**JOB, "job.id": "night"}]
    first, *others, last = read_sls_jobs(written(tmp_path, "t.json", json.dumps(trace)))
    assert [each.name for each in (first, *others, last)] == [
        *("job_0", "job_0#2", "job_0#3", "night")
    ]
    assert len({each.number for each in (first, *others, last)}) == 4
    assert all(each.classes == first.classes for each in others)


def test_jobs_of_swim_are_bounded(tmp_path, lowered):
    trace = written(tmp_path, "t.tsv", reading.swim(30))
    lowered(jobs=29)
    with pytest.raises(LimitError, match=r"t\.tsv:30: more than 29 jobs"):
        read_swim(trace)


def test_nodes_are_bounded(tmp_path, lowered):
    topology = written(tmp_path, "n.json", reading.topology(30))
    lowered(nodes=29)
    with pytest.raises(LimitError, match="30 nodes; the limit is 29 for a cluster"):
        read_sls_topology(topology)
    with pytest.raises(LimitError, match="40 nodes"):
        racks_of([AlikeNodes(20), AlikeNodes(20)])


def test_tasks_of_a_run_are_bounded():
    with pytest.raises(LimitError, match="1,000,000,000 tasks; the limit is 10,000,000 for a run"):
        Size.of([(1, RunSize(1, 10**9, 1.0, 1))]).require_bounded()


def test_a_run_of_too_many_tasks_is_refused_at_once(run, tmp_path):
    tasks = [{"duration.ms": 7, "count": 10**9}]
    written(tmp_path, "t.json", json.dumps([{**JOB, "job.tasks": tasks}]))
    done = run("yarn", "t.json", "--nodes", "4:memory=8000,cores=4", cwd=tmp_path)
    assert done.returncode == 2
    assert "REBECSIM_MAX_TASKS=1000000000" in done.stderr
    done = run("yarn", "t.json", "--nodes", "4:memory=8000,cores=4", "--dry-run", cwd=tmp_path)
    assert "1,000,000,000 tasks: estimated" in done.stdout


def test_maps_of_a_trace_of_bytes_are_counted_before_they_are_made(run, tmp_path):
    written(tmp_path, "t.tsv", "job1\t0\t0\t9000000000000000\t1\t1\n")
    done = run("mapreduce", "t.tsv", cwd=tmp_path)
    assert done.returncode == 2
    assert "REBECSIM_MAX_TASKS" in done.stderr


# --- models and formulas --------------------------------------------------------------------------


def test_an_array_is_bounded(lowered):
    text = MODEL.format("int[200000] big;", "x = 1;")
    with pytest.raises(RebecaCheckError, match=r"at most 100000 elements, not 200000") as raised:
        check_source(text, "m")
    assert "REBECSIM_MAX_ELEMENTS=200000" in str(raised.value)
    lowered(elements=200_000)
    check_source(text, "m")


def test_choices_that_multiply_are_bounded(lowered):
    choice = f"?({', '.join(map(str, range(40)))})"
    checked = check_source(MODEL.format("int y;", f"x = {choice}; y = {choice};"), "m")
    model = build_model(checked, "m")
    assert explore(model, checked=checked).states > 1600
    lowered(choices=1599)
    with pytest.raises(LimitError, match=r"a\.go: more than 1,599 ways; .*REBECSIM_MAX_CHOICES="):
        explore(model, checked=checked)


def doubled(count: int) -> str:
    definitions = "".join(f"a{n} = a{n - 1} && a{n - 1};" for n in range(1, count))
    return (
        f"property {{ define {{ a0 = a.x == 0; {definitions} }} Assertion {{ p: a{count - 1}; }} }}"
    )


def test_definitions_that_double_are_bounded():
    checked = check_source(MODEL.format("", "x = 1;"), "m")
    check_property(parse_property(doubled(8), "p.property"), checked)
    with pytest.raises(LimitError, match=r"p\.property:1: 14,333 parts; the limit is 10,000"):
        check_property(parse_property(doubled(40), "p.property"), checked)


def test_definitions_in_each_other_are_not_too_deep():
    checked = check_source(MODEL.format("", "x = 1;"), "m")
    chain = "".join(f"a{n} = !a{n - 1};" for n in range(1, 300))
    text = f"property {{ define {{ a0 = a.x == 0; {chain} }} Assertion {{ p: a299; }} }}"
    with pytest.raises(LimitError, match="levels; the limit is 200"):
        check_property(parse_property(text, "p.property"), checked)


def test_the_automaton_of_a_formula_is_bounded(lowered):
    checked = check_source(MODEL.format("", "x = 1;"), "m")
    fair = " && ".join(f"G(F(a.x == {number}))" for number in range(5))
    text = f"property {{ LTL {{ p: !({fair}); }} }}"
    properties = check_property(parse_property(text, "f.property"), checked)
    model = build_model(checked, "m")

    def verdict():
        checks = Checks(properties=properties)
        return explore(model, checked=checked, checks=checks, limits=Limits(states=50)).verdict

    assert verdict() == "satisfied"
    lowered(automaton=1000)
    with pytest.raises(LimitError, match=r"f\.property:1: p: .*the limit is 1,000 for the automa"):
        verdict()
    assert AUTOMATON.most == 1000


# --- growth ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", READERS)
def test_readers_are_linear(tmp_path, name):
    """Eight times as much takes about eight times as long; what is quadratic takes 64 times."""
    reader = READERS[name]
    small, large = (reader.made(count // reader.share) for count in (2_000, 16_000))

    def best(text: str, times: int) -> float:
        """Read copies, as some readers remember a file; collecting garbage takes its time, too."""
        return min(
            reading.seconds_of(
                reader, written(tmp_path, f"{len(text)}-{place}{reader.suffix}", text)
            )
            for place in range(times)
        )

    assert best(large, 2) < 30 * max(best(small, 3), 0.01)


def test_a_long_cycle_is_named_in_part(tmp_path):
    path = written(tmp_path, "cycle.xml", reading.dax(1000, 1))
    with pytest.raises(UserError) as raised:
        read_dax(path)
    assert "... (991 more)" in str(raised.value)
    assert len(str(raised.value)) < 500


@pytest.mark.parametrize("first", [1, 0])
def test_phases_of_a_workflow_do_not_depend_on_the_order_of_the_file(tmp_path, first):
    path = written(tmp_path, "w.json", reading.wfcommons(50))
    tasks = READERS["wfcommons"].read(path)
    assert [task.phase for task in tasks] == list(range(50, 0, -1))


def test_a_scenario_from_a_browser_is_bounded_too():
    assert values_of('name = "a"') == {"name": "a"}
    assert values_of(".".join("a" * 15_000) + " = 1") is None
