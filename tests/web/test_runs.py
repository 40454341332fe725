"""Runs in the browser: their list, one of them, SQL, two of them; and what must not be reached."""

from __future__ import annotations

import csv
import errno
import io
import os
import re
import shutil
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from pyarrow import parquet

from rebecsim.clusters.scenarios import load, open_run, plan_of_run
from rebecsim.errors import UserError
from rebecsim.report import answer_sentence, shown_figures, write_report
from rebecsim.report.comparison import report_input
from rebecsim.studies import Results
from rebecsim.studies.run_directory import exclusive
from rebecsim.studies.scenario_files import builtin_folder
from rebecsim.web.library import read_small_file
from rebecsim.web.studies.run_finder import id_of
from rebecsim.web.studies.sql import Questions, answered
from tests.on_asgi import ask, send_form
from tests.plans import run_plan
from tests.web.runs import make_run
from tests.web.test_attacks import WORDS, assert_harmless


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A complete run with its report, one with another seed below a folder, one that is not."""
    place = tmp_path_factory.mktemp("runs")
    whole = make_run(place / "whole")
    plan = plan_of_run(whole)
    write_report(report_input(plan, whole.results), place / "whole")
    make_run(place / "below/other's", seed=8)
    make_run(place / "begun", cells=3)
    return place


@pytest.fixture
def pages(app: Any, kept: Path) -> Any:
    """An application over these runs."""
    return app(kept)


def address(name: str) -> str:
    return f"/runs/{id_of(name)}"


def names(page: str) -> list[str]:
    return [unescape(name) for name in re.findall(r'<a href="/runs/[0-9a-f]{16}">(.*?)</a>', page)]


def test_runs_are_listed_sorted_and_found(pages: Any) -> None:
    page = ask(pages, "/runs").text
    assert names(page) == ["begun", "below/other's", "whole"]
    assert names(ask(pages, "/runs?sort=name&down=1").text) == ["whole", "below/other's", "begun"]
    assert names(ask(pages, "/runs?sort=state").text)[-1] == "begun"
    assert names(ask(pages, "/runs?find=OTHER+dispatch").text) == ["below/other's"]
    assert "has all of these words" in ask(pages, "/runs?find=nothing").text
    assert re.search(r"3/4.*4/4.*4/4", page, re.DOTALL)
    assert 'aria-sort="ascending"><a href="/runs?sort=name&amp;down=1"' in page
    assert ask(pages, "/runs?sort=__class__&down=x").status == 200


def test_a_run_that_is_complete_says_what_its_report_says(pages: Any, kept: Path) -> None:
    page = ask(pages, address("whole")).text
    stored = open_run(kept / "whole")
    report = report_input(plan_of_run(stored), stored.results)
    sentence = answer_sentence(report.answer, report.compared, report.axis)
    assert f'<p class="answer">{sentence}</p>' in unescape(page)
    assert "✓ Complete" in page
    assert "not finished" not in page
    figures = shown_figures(report.summary)
    assert all(each.text in page for column in figures for each in column)
    for name in re.findall(r'src="(/runs/\w+/charts/\w+\.svg)', page):
        drawn = ask(pages, name)
        assert (drawn.status, drawn.headers["content-type"]) == (200, "image/svg+xml")
        assert "</svg>" in drawn.text
    narrow = ask(pages, f"{address('whole')}/charts/deadline_misses.narrow.svg")
    assert narrow.status == 200
    assert 'viewBox="0 0 302.4 316.8"' in narrow.text
    for name in ("nothing", "deadline_misses.wide"):
        assert ask(pages, f"{address('whole')}/charts/{name}.svg").status == 404


def test_of_a_run_that_is_not_complete_what_can_be_compared_is_shown(pages: Any) -> None:
    """MDF lacks the larger cluster, so both are shown at the smaller one."""
    page = unescape(ask(pages, address("begun")).text)
    assert "■ Stopped" in page
    assert "So far: 1 of 2 conditions, with EDF, MDF." in page
    assert 'class="answer"' not in page
    assert page.count("not finished") == 1


def test_a_run_that_is_being_written_is_running(pages: Any, kept: Path) -> None:
    with exclusive(kept / "begun"):
        assert "▶ Running" in ask(pages, address("begun")).text
    assert "■ Stopped" in ask(pages, address("begun")).text


def test_damage_is_said_and_nothing_else_breaks(app: Any, kept: Path, tmp_path: Path) -> None:
    run = open_run(Path(shutil.copytree(kept / "whole", tmp_path / "whole")))
    part = run.results.part(run.cells[0])
    part.write_bytes(part.read_bytes()[:-9])
    (tmp_path / "broken/parts").mkdir(parents=True)
    (tmp_path / "broken/run.json").write_text("{")
    application = app(tmp_path)
    page = ask(application, address("whole"))
    assert page.status == 200
    assert "is damaged" in page.text
    listed = ask(application, "/runs").text
    assert names(listed) == ["whole"]
    assert "broken/run.json: cannot be read" in listed
    assert str(tmp_path) not in page.text + listed


def test_without_a_directory_there_are_no_runs(app: Any) -> None:
    application = app(None)
    assert "rebecsim web DIRECTORY" in ask(application, "/runs").text
    assert ask(application, address("whole")).status == 404
    assert send_form(application, "/runs/sql", sql="select 1").status == 400


def test_jobs_have_the_names_of_their_trace_as_long_as_it_is_the_same(
    app: Any, tmp_path: Path
) -> None:
    given = builtin_folder() / "changed_queues"
    for file in ("hour.json", "before.xml", "after.xml"):
        shutil.copy(given / file, tmp_path)
    (tmp_path / "mine.toml").write_text(
        """
        kind = "yarn"
        name = "mine"
        schedulers = [
            { name = "before", queues = "before.xml" },
            { name = "after", queues = "after.xml" },
        ]
        workload.trace = "hour.json"
        cluster.nodes = [{ count = 8, memory = 32_768, cores = 16 }]
        """
    )
    plan = load(tmp_path / "mine.toml").plan()
    results = Results.create(tmp_path / "mine", plan)
    run_plan(plan, results)
    assert "Worst: survey_5 of analysts" in ask(app(tmp_path), address("mine")).text
    trace = (tmp_path / "hour.json").read_text()
    (tmp_path / "hour.json").write_text(trace.replace("survey_5", "survey_0"))
    assert "Worst: job_10 of analysts" in ask(app(tmp_path), address("mine")).text


def test_two_runs_are_compared(pages: Any) -> None:
    one, other = id_of("whole"), id_of("below/other's")
    page = unescape(ask(pages, f"/runs/diff?run={one}&run={other}").text)
    assert "4 cells in both runs: 0 identical." in page
    assert re.search(r"scenario\.<wbr>seed</th><td[^>]*>7</td><td[^>]*>8<", page)
    same = ask(pages, f"/runs/diff?run={one}&run={id_of('begun')}")
    assert "is missing" in unescape(same.text)  # it is not complete
    for wrong in ("", f"run={one}", f"run={one}&run={one}", f"run={one}&run=x&run={other}"):
        assert ask(pages, f"/runs/diff?{wrong}").status == 400
    assert ask(pages, f"/runs/diff?run={one}&run=x").status == 404


# --- the report ----------------------------------------------------------------------------------


def test_the_report_is_as_it_is_on_disk_and_in_a_sandbox(pages: Any, kept: Path) -> None:
    """Its programs may run, but not as a page of this server, whatever they are."""
    answer = ask(pages, f"{address('whole')}/files/report.html")
    assert answer.text == (kept / "whole/report.html").read_text("utf-8")
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("sandbox allow-scripts allow-downloads; default-src 'none';")
    assert "allow-same-origin" not in policy
    assert "connect-src" not in policy
    data = ask(pages, f"{address('whole')}/files/table.csv")
    assert data.headers["content-disposition"] == 'attachment; filename="table.csv"'


@pytest.mark.parametrize(
    "file",
    [
        *("run.json", ".lock", "parts/", "../secret.csv", "..%2fsecret.csv", "charts/../run.json"),
        *("charts/..%2f..%2fsecret.csv", "/etc/passwd", "link.csv", "charts/link.svg", "pipe.csv"),
        *("secret.csv%00.csv", "report.html/", "linked/secret.csv", "folder.csv", "x.csv\n"),
    ],
)
def test_only_files_of_the_report_are_given(app: Any, tmp_path: Path, file: str) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("root:secret")
    run = tmp_path / "runs/one"
    make_run(run)
    os.mkfifo(run / "pipe.csv")
    (run / "folder.csv").mkdir()
    application = app(tmp_path / "runs")
    assert ask(application, f"{address('one')}/files/{quote(file, safe='/%')}").status in (400, 404)
    (run / "link.csv").symlink_to(secret)
    (run / "charts").mkdir(exist_ok=True)
    answer = ask(application, f"{address('one')}/files/{quote(file, safe='/%')}")
    assert answer.status >= 400
    assert "secret" not in answer.text


@pytest.mark.parametrize("linked", ["parts", "run.json", "parts/one.parquet", "report.html"])
def test_a_run_with_a_link_in_it_is_not_opened(app: Any, tmp_path: Path, linked: str) -> None:
    make_run(tmp_path / "outside")
    inside = tmp_path / "inside"
    shutil.copytree(tmp_path / "outside", inside / "one")
    place = inside / "one" / linked
    if place.is_dir():
        shutil.rmtree(place)
    place.unlink(missing_ok=True)
    place.symlink_to(tmp_path / "outside" / linked)
    (inside / "whole").symlink_to(tmp_path / "outside")
    application = app(inside)
    page = ask(application, "/runs").text
    assert names(page) == []
    assert f"one/{linked}: is a symbolic link" in page
    assert ask(application, address("one")).status == 400
    assert ask(application, address("whole")).status == 404


@pytest.mark.parametrize("run", ["..", "%2e%2e", "whole", "../whole", "0" * 16, "0" * 5000, "\0"])
def test_addresses_lead_to_no_other_runs(pages: Any, run: str) -> None:
    for rest in ("", "/files/report.html", "/charts/deadline_misses.svg"):
        assert ask(pages, f"/runs/{run}{rest}").status == 404


def test_titles_and_names_have_no_effect(app: Any, tmp_path: Path) -> None:
    name = "<img src=x onerror=alert(1)>'\""
    make_run(tmp_path / "a" / name, title=WORDS)
    make_run(tmp_path / "b", title=WORDS, seed=8)
    application, place = app(tmp_path), f"a/{name}"
    for asked in (
        *("/runs", f"/runs?find={quote(WORDS)}", address(place), f"/runs/sql?sql={quote(WORDS)}"),
        f"/runs/diff?run={id_of(place)}&run={id_of('b')}",
    ):
        answer = ask(application, asked)
        assert answer.status == 200
        assert_harmless(answer.text.replace('<img src="/runs/', '<p src="/runs/'))
    assert_harmless(ask(application, f"{address(place)}/charts/deadline_misses.svg").text)
    assert_harmless(send_form(application, "/runs/sql", sql=f"select '{WORDS}'").text)


# --- SQL -----------------------------------------------------------------------------------------


def question(kept: Path, sql: str, rows: int = 200) -> dict[str, Any]:
    return answered({"sql": sql, "root": str(kept), "rows": rows, "megabytes": 500})


def test_a_question_is_answered_by_a_process(pages: Any) -> None:
    answer = send_form(pages, "/runs/sql", sql="select run, seed, null n from runs order by run")
    assert answer.status == 200
    cells = [unescape(each) for each in re.findall(r'<td class="text">(.*?)</td>', answer.text)]
    assert cells == ["begun", "7", "–", "below/other's", "8", "–", "whole", "7", "–"]  # noqa: RUF001
    assert "3 rows" in answer.text


def test_of_many_rows_the_first_are_shown(kept: Path) -> None:
    said = question(kept, "select i from range(300) t(i)", rows=20)
    assert (len(said["rows"]), said["more"]) == (20, True)
    assert len(question(kept, "select repeat('x', 10000)")["rows"][0][0]) < 400


@pytest.mark.parametrize(
    "sql",
    [
        *("select * from read_csv('{secret}')", "select * from '{secret}'", "select 1; select 2"),
        *(
            "select * from read_text('{secret}')",
            "from read_blob('{secret}')",
            "",
            "drop view runs",
        ),
        *("from glob('{folder}/*')", "copy runs to '{folder}/made.csv'", "attach '{folder}/a.db'"),
        *("set memory_limit = '9GB'", "set enable_external_access = true", "load httpfs"),
        *("from read_json('http://127.0.0.1:1/x')", "select getenv('HOME')"),
        *("from query('from read_text(''{secret}'')')", "export database '{folder}/made'"),
        *("from finder", "from asked", "install httpfs", "call pragma_version()", "checkpoint"),
    ],
)
def test_sql_reaches_no_files_and_changes_nothing(kept: Path, tmp_path: Path, sql: str) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a\nsecret\n")
    said = question(kept, sql.format(secret=secret, folder=tmp_path))
    assert list(said) == ["error"]
    assert [each.name for each in tmp_path.iterdir()] == ["secret.csv"]


def test_a_question_that_takes_much_memory_is_refused(kept: Path) -> None:
    said = question(kept, "select count(distinct i || repeat('x', 900)) from range(4000000) t(i)")
    assert "emory" in said["error"]


@pytest.mark.slow
def test_a_question_that_takes_long_is_stopped(kept: Path) -> None:
    with pytest.raises(UserError, match="was stopped"):
        Questions(seconds=3).ask("select max(a.range) from range(90000000000) a", kept)


def test_long_questions_and_those_of_other_pages_are_refused(pages: Any) -> None:
    assert "may have" in send_form(pages, "/runs/sql", sql="x" * 6000).text
    body = b"sql=select+1"
    assert ask(pages, "/runs/sql", method="POST", body=body).status == 403


MANY = "select 'a, \u00e9' as text, range as number from range(1000)"


def test_all_rows_can_be_had_as_a_file(pages: Any) -> None:
    shown = send_form(pages, "/runs/sql", sql=MANY).text
    assert "These are the first 200 rows; there are more." in shown
    assert 'formaction="/runs/sql/answer.parquet"' in shown
    answer = send_form(pages, "/runs/sql/answer.csv", sql=MANY)
    assert answer.status == 200
    assert answer.headers["content-disposition"] == 'attachment; filename="answer.csv"'
    rows = list(csv.reader(answer.text.splitlines()))
    assert rows == [["text", "number"], *(["a, \u00e9", str(number)] for number in range(1000))]
    answer = send_form(pages, "/runs/sql/answer.parquet", sql=MANY)
    table = parquet.read_table(io.BytesIO(answer.content))
    assert table["number"].to_pylist() == list(range(1000))


def test_a_file_that_cannot_be_made_is_a_page_that_says_why(pages: Any) -> None:
    answer = send_form(pages, "/runs/sql/answer.csv", sql="select nothing")
    assert (answer.status, "nothing" in answer.text) == (400, True)
    assert send_form(pages, "/runs/sql/answer.exe", sql="select 1").status == 404
    body = b"sql=select+1"
    assert ask(pages, "/runs/sql/answer.csv", method="POST", body=body).status == 403


def test_a_file_may_not_be_as_large_as_it_likes(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.EFBIG, "File too large")

    monkeypatch.setattr("rebecsim.web.studies.sql._write", full)
    asked = {"sql": "select 1", "root": str(kept), "rows": 0, "megabytes": 500}
    said = answered(asked | {"out": str(tmp_path / "answer.csv")})
    assert said == {"error": "The answer is larger than 256 MB. Ask for less."}


def test_what_is_no_file_leaves_nothing_open(tmp_path: Path) -> None:
    (tmp_path / "report.html").mkdir()
    (tmp_path / "link.html").symlink_to(tmp_path / "report.html")
    descriptors = Path("/proc/self/fd")
    if not descriptors.is_dir():
        pytest.skip("where open files are not listed")
    before = len(list(descriptors.iterdir()))
    for _ in range(20):
        assert read_small_file(tmp_path / "report.html") is None
        assert read_small_file(tmp_path / "link.html", follow=True) is None
        assert read_small_file(tmp_path / "nothing.html") is None
    assert len(list(descriptors.iterdir())) == before
