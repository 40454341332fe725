import ast
import base64
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from rebecsim.report import write_report
from rebecsim.report.figures import new_figure
from rebecsim.studies.cells import Answered, Picture, Section
from rebecsim.studies.executors import executor_of

FILES = {
    ".report.json",
    "report.html",
    "table.csv",
    "by_cluster_size.csv",
    *(
        f"charts/{name}.{form}"
        for name in ("deadline_misses", "job_request_success", "am_job_success")
        for form in ("png", "svg")
    ),
}


@pytest.mark.usefixtures("without_charts")
def test_a_report_is_these_files_and_nothing_else(make_report, tmp_path: Path) -> None:
    out = tmp_path / "new" / "directory"
    written = write_report(make_report(), out)
    found = {p.relative_to(out).as_posix() for p in out.rglob("*") if p.is_file()}
    assert found == FILES
    listed = {written.html, *written.data, *written.charts}
    assert listed == {out / name for name in FILES - {".report.json"}}


def test_incomplete_results_write_nothing(make_report, make_cell, tmp_path: Path) -> None:
    incomplete = make_report([make_cell("EDF", 1), make_cell("FIFO", 1), make_cell("FIFO", 2)])
    with pytest.raises(ValueError, match="EDF was not run"):
        write_report(incomplete, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("without_charts")
def test_a_directory_that_is_a_file_is_an_os_error(make_report, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("taken")
    with pytest.raises(OSError, match="out"):
        write_report(make_report(), tmp_path / "out")
    assert (tmp_path / "out").read_text() == "taken"


def test_importing_the_report_does_not_load_the_drawing_packages() -> None:
    code = (
        "import sys, rebecsim.report; "
        "print(sorted({'matplotlib', 'plotly', 'scipy', 'jinja2'} & set(sys.modules)))"
    )
    # Whatever rebecsim.studies itself needs is not the report's doing.
    base = "import sys, rebecsim.studies; " + code.split("; ", 1)[1]
    loaded = [
        subprocess.run([sys.executable, "-c", c], capture_output=True, text=True, check=True).stdout
        for c in (code, base)
    ]
    assert set(ast.literal_eval(loaded[0])) <= set(ast.literal_eval(loaded[1]))


@pytest.mark.usefixtures("without_charts")
def test_pairs_and_orders_have_files_of_their_own(full_report, make_report, tmp_path: Path) -> None:
    written = write_report(full_report, tmp_path)
    pairs, orders = tmp_path / "pairs.csv", tmp_path / "orders.csv"
    assert {pairs, orders} <= set(written.data)
    assert len(pairs.read_text().splitlines()) == 1 + 3 * 6
    assert len(orders.read_text().splitlines()) == 1 + 3 * 3
    # A later report without them does not leave the old ones beside it.
    written = write_report(make_report(), tmp_path)
    assert not {pairs, orders} & set(written.data)
    assert not (tmp_path / "pairs.csv").exists()
    assert not (tmp_path / "orders.csv").exists()


def test_charts_are_the_same_whoever_draws_them(full_report, tmp_path):
    alone = write_report(full_report, tmp_path / "alone")
    with executor_of(2) as pool:
        together = write_report(full_report, tmp_path / "together", pool)
    files = [path.relative_to(tmp_path / "alone") for path in (*alone.charts, alone.html)]
    assert files == [
        path.relative_to(tmp_path / "together") for path in (*together.charts, together.html)
    ]
    for file in files:
        assert (tmp_path / "alone" / file).read_bytes() == (
            tmp_path / "together" / file
        ).read_bytes()


def test_the_picture_of_an_answer_comes_first_and_asks_once(make_report, tmp_path: Path) -> None:
    draw = partial(new_figure, 2, 2, make_report().title)  # what a kind gives it: what was run
    section = Section(
        "by_queue",
        "By queue",
        answer=(Answered("after instead of before:", ("etl waits 70 s less.",)),),
        pictures=(Picture("waits", "What do jobs wait?", "Means.", draw),),
    )
    written = write_report(make_report(sections=[section]), tmp_path / "out")
    html = written.html.read_text()
    hero = html.index('class="hero"')
    assert html.index("etl waits") < hero < html.index('id="more"') < html.index('id="chart-1"')
    assert [html.count(f'id="chart-{number}"') for number in (1, 2, 3, 4)] == [1, 1, 1, 0]
    shown = re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', html[hero:])
    assert shown is not None
    hidden, kept = b"#heading{display:none}", (tmp_path / "out/charts/waits.svg").read_bytes()
    assert hidden in base64.b64decode(shown[1])
    assert b'id="heading"' in kept
    assert hidden not in kept
