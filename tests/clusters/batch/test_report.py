"""Reports of scenarios of the kind `batch`: page, pictures, CSV, terminal."""

from __future__ import annotations

import csv
import io
import re
import shutil
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

import pytest
from rich.console import Console

from rebecsim.clusters.batch.measures import schedule_difference
from rebecsim.clusters.batch.report.schedule_charts import difference_figure, over_time_figure
from rebecsim.clusters.batch.report.sections import Schedules, difference_table, read_shown
from rebecsim.report import (
    FORMS,
    ReportInput,
    WrittenReport,
    render_figure,
    report_pictures,
    report_view,
    write_report,
)
from rebecsim.report.comparison import report_input
from rebecsim.studies import Results
from tests.clusters.batch.scenarios import DRAWN, SCENARIO, plan_of
from tests.plans import run_plan
from tests.program import undrawn


@dataclass
class Made:
    report: ReportInput
    read: Schedules
    digests: dict[str, str]

    @property
    def differences(self):
        first, *others = self.read.shown.values()
        return [schedule_difference(first, each) for each in others]


def made(folder: Path, text: str) -> Made:
    plan = plan_of(folder, text)
    results = Results.create(folder / "run", plan)
    run_plan(plan, results)
    return Made(report_input(plan, results), read_shown(plan, results), plan.fingerprints())


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Made:
    text = 'title = "<b>Small & $x$</b>"\ndescription = "a <script>\\n\\nb"\n' + SCENARIO
    return made(tmp_path_factory.mktemp("small"), text)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory) -> Made:
    return made(tmp_path_factory.mktemp("drawn"), DRAWN)


@pytest.fixture(scope="module")
def written(small, tmp_path_factory) -> WrittenReport:
    with undrawn():
        return write_report(small.report, tmp_path_factory.mktemp("written"))


def rows(file: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(file.read_text())))


def printed(what: object, width: int = 120) -> str:
    console = Console(width=width, file=io.StringIO())
    console.print(what)
    return console.file.getvalue()


class _Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def test_the_page_is_whole_and_escapes_what_the_scenario_says(small, written) -> None:
    text = written.html.read_text()
    page = _Page(text)
    assert "<title>&lt;b&gt;Small &amp; $x$&lt;/b&gt;" in text
    assert [tag for tag, _ in page.tags].count("p") >= 2
    assert [tag for tag, _ in page.tags].count("script") == 1  # that of the page
    sources = [given["src"] for tag, given in page.tags if tag == "img"]
    assert len(sources) == 7
    assert all(source.startswith("data:image/svg+xml;base64,") for source in sources)
    assert all(given["alt"] for tag, given in page.tags if tag == "img")
    assert not re.search(r'(?:src|href)="https?:', text)
    assert small.digests["log_blake2b"] in text
    assert "Bounded slowdown" in text


@pytest.mark.filterwarnings("error")
def test_every_picture_can_be_drawn_in_both_forms(small) -> None:
    for picture in report_pictures(small.report):
        drawn = render_figure(picture.draw, FORMS, picture.dots_per_inch)
        assert drawn[".png"].startswith(b"\x89PNG")
        assert b"</svg>" in drawn[".svg"]


def picture(made: Made, name: str):
    (found,) = [each for each in report_pictures(made.report) if each.name == name]
    return found


def test_pictures_of_one_schedule_say_which_replication_it_is(small, drawn) -> None:
    """In the picture itself, which may be looked at without the page."""
    of_first = "drawn (load factor 1.0, estimates exact, replication 0, the first of 3)"
    for name in ("users", "overdue", "gantt", "over_time", "changes"):
        assert picture(drawn, name).draw().get_suptitle().replace("\n", " ") == of_first
        assert "replication" not in picture(small, name).draw().get_suptitle()


def test_the_means_that_know_no_users_are_drawn(small, drawn) -> None:
    """Figure 5 of the paper: wait, response and slowdown, a bar for each policy."""
    figure = picture(small, "means").draw()
    assert [axes.get_title() for axes in figure.axes] == [
        "Mean wait",
        "Mean response",
        "Mean slowdown",
    ]
    classical = [each.classical for each in small.read.shown.values()]
    for axes, name in zip(figure.axes, ("wait", "response", "slowdown"), strict=True):
        heights = [bar.get_height() for bar in axes.patches]
        assert heights == pytest.approx([getattr(each, name).mean for each in classical])
    heading = picture(drawn, "means").draw().get_suptitle().replace("\n", " ")
    assert heading == "drawn (load factor 1.0, estimates exact, means of 3 replications)"


def test_every_picture_is_written_in_both_forms(written) -> None:
    charts = written.html.parent / "charts"
    names = ["by_group", "changes", "gantt", "means", "over_time", "overdue", "users"]
    assert sorted(path.name for path in charts.iterdir()) == sorted(
        f"{name}{form}" for name in names for form in (".png", ".svg")
    )
    assert set(written.charts) == set(charts.iterdir())


def test_the_csv_files_have_every_figure(written) -> None:
    names = ["table.csv", "pairs.csv", "by_group.csv", "schedules.csv", "users.csv", "changes.csv"]
    assert [path.name for path in written.data] == names
    schedules = rows(written.data[3])
    assert [row["policy"] for row in schedules] == ["FCFS", "EASY"]
    assert [float(row["mean_wait"]) for row in schedules] == [9.0, 6.4]
    users = rows(written.data[4])
    assert [(row["policy"], row["user"]) for row in users][:4] == [
        *(("FCFS", str(user)) for user in (1, 2, 3)),
        ("EASY", "1"),
    ]
    changes = rows(written.data[5])
    first = changes[0]
    assert (first["baseline"], first["policy"], first["user"]) == ("FCFS", "EASY", "1")
    assert (first["earlier"], first["later"], float(first["wait"])) == ("1", "0", -6.5)


@pytest.mark.usefixtures("without_charts")
def test_what_an_earlier_report_left_is_removed(written, tmp_path) -> None:
    place = shutil.copytree(written.html.parent, tmp_path / "written")
    text = SCENARIO.replace("share = 2\n", "").replace(', "EASY"', "")
    (tmp_path / "other").mkdir()
    again = write_report(made(tmp_path / "other", text).report, place)
    assert [path.name for path in again.data] == ["table.csv", "by_group.csv", "schedules.csv"]
    assert not (place / "users.csv").exists()
    assert not (place / "changes.csv").exists()
    assert set(again.charts) == set((place / "charts").iterdir())
    assert {path.stem for path in again.charts} == {"by_group", "gantt", "means", "over_time"}


def test_the_table_marks_the_best(small) -> None:
    text = printed(report_view(small.report, explain=True))
    assert re.search(r"Mean wait \(s\) +│ +9 +│ +6 \* │", text)
    assert re.search(r"Utilisation \(%\) +│ +\d+\.\d +", text)
    assert "Nothing is random in these models" in text


def test_replications_have_intervals_and_paired_differences(drawn) -> None:
    text = printed(report_view(drawn.report, explain=True))
    assert text.count("Differences: Mean wait") == 4
    assert "drawn: load factor 1.5, estimates error 2.5" in text
    assert re.search(r"Makespan \(h\) +│ +[\d.]+ ± [\d.]+", text)
    assert "± gives the half-width of the 95 % interval." in text
    assert "FAIR_FCFS and FCFS" in text or "FAIR_FCFS than with FCFS" in text


def test_means_are_those_of_the_replications(drawn) -> None:
    condition, first = next(iter(drawn.report.comparisons.items()))
    assert (condition["load_factor"], condition["estimates"]) == (1.0, "exact")
    (row, _) = first.summary.rows
    (cell,) = [each for each in first.moments if each.cell.policy == "FCFS"]
    assert row.estimates[0].value == float(cell.mean_of({"mean_wait": 1}))
    assert row.estimates[0].degrees_of_freedom == 2


def test_the_difference_names_users_and_jobs(small) -> None:
    text = printed(difference_table(small.differences[0]))
    assert "EASY instead of FCFS: of 5 jobs 1 wait for less time, 0 for more, 4 for as long" in text
    assert re.search(r"│ +1 │ +2 │ +1 │ +0 │", text)


def test_charts_along_the_load_are_those_of_each_estimate(drawn) -> None:
    by_axis = drawn.report.by_axis
    assert [str(condition) for condition in by_axis] == ["estimates exact", "estimates error 2.5"]
    for along in by_axis.values():
        assert along.places == (1.0, 1.5)
        assert along.policies == ("FCFS", "FAIR_FCFS")


def test_lines_of_time_are_those_of_the_policies(drawn) -> None:
    schedules = [each.schedule for each in drawn.read.shown.values()]
    usage, queue = over_time_figure(schedules).axes
    for axes in (usage, queue):
        assert [patch.get_label() for patch in axes.patches] == ["FCFS", "FAIR_FCFS"]
    jobs = schedules[0].workload
    values, edges, _ = usage.patches[0].get_data()
    hours = {"days": 24, "hours": 1, "minutes": 1 / 60, "seconds": 1 / 3600}
    unit = next(h for name, h in hours.items() if name in queue.get_xlabel())
    work = (values / 100 * jobs.capacity * (edges[1:] - edges[:-1])).sum() * unit
    assert work == pytest.approx(jobs.area.sum() / 3600)


def test_dots_of_jobs_are_above_zero_if_they_wait_longer(small) -> None:
    jobs, users = difference_figure(small.differences).axes
    less, more = (each.get_offsets() for each in jobs.collections)
    assert less[:, 1].tolist() == [-13]
    assert len(more) == 0
    assert [patch.get_width() < 0 for patch in users.patches] == [True]


@pytest.mark.usefixtures("without_charts")
def test_a_page_of_a_generated_workload_says_so(drawn, tmp_path) -> None:
    written = write_report(drawn.report, tmp_path)
    text = written.html.read_text()
    assert "BLAKE2b" not in text
    assert (
        "Of the schedules with load factor 1.0, estimates exact, replication 0, the first of 3."
        in text
    )
    assert (tmp_path / "charts/mean_wait.svg").exists()
    pictures = report_pictures(drawn.report)
    assert len(written.charts) == len(FORMS) * len(pictures)
    assert all(picture.draw().axes for picture in pictures)
