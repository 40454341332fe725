"""An operator's way, from the files of a cluster to who would wait longer."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from tests.conftest import Run
from tests.docs.markdown import read_document
from tests.web.chromium import browsing, needs_chromium

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs/guides/queues.md"
DATA = ROOT / "tests/data"


@pytest.fixture
def guide(tmp_path: Path) -> tuple[Path, list[list[str]]]:
    """The files of the guide in a folder, and what it runs there."""
    commands = []
    for block in read_document(GUIDE).blocks:
        if file := block.options.get("file"):
            (tmp_path / file).write_text(block.text + "\n")
        elif block.language == "console":
            text = block.text.replace("\\\n", " ")
            commands += [
                shlex.split(line[2:])[1:]
                for line in text.splitlines()
                if line.startswith("$ rebecsim ")
            ]
    return tmp_path, commands


def test_the_first_screen_of_the_guide_is_the_answer(
    run: Run, guide: tuple[Path, list[list[str]]]
) -> None:
    folder, commands = guide
    ended = run(*commands[0], cwd=folder, columns=80)
    assert ended.returncode == 0
    assert ended.stderr == "2 settings have no effect here; --verbose lists them\n"
    lines = [line.rstrip() for line in ended.stdout.splitlines()]
    assert lines == (DATA / "first_screen.txt").read_text().splitlines()
    assert len(lines) + 1 <= 40
    assert max(map(len, lines)) <= 80


def test_what_is_not_on_the_first_screen_is_asked_for(
    run: Run, guide: tuple[Path, list[list[str]]]
) -> None:
    folder, commands = guide
    shown = run(*commands[0], "--more", "--verbose", cwd=folder)
    assert "Makespan (s)" in shown.stdout
    assert "Guaranteed (%)" in shown.stdout
    assert "--more" not in shown.stdout
    listed = shown.stderr.splitlines()
    assert [line.split(": ", 1)[0] for line in listed] == ["before.xml:7", "after.xml:9"]
    assert shown.stdout.count("exact") == 1


def test_a_comparison_of_queue_files_begins_with_the_queues(run: Run, tmp_path: Path) -> None:
    ended = run("compare", "changed_queues", "--out", "out", cwd=tmp_path, columns=80)
    assert ended.returncode == 0, ended.stderr
    lines = [line.rstrip() for line in ended.stdout.splitlines()]
    answer = lines[: lines.index("report  out/report.html")]
    assert answer == (DATA / "queues_screen.txt").read_text().splitlines()
    assert len(answer) <= 40
    assert max(map(len, lines)) <= 80
    (tmp_path / "elsewhere").mkdir()
    again = run("report", "../out", "--out", "again", cwd=tmp_path / "elsewhere", columns=80)
    assert [line.rstrip() for line in again.stdout.splitlines()][: len(answer)] == answer
    page = (tmp_path / "elsewhere/again/report.html").read_bytes()
    assert page == (tmp_path / "out/report.html").read_bytes()


def trace(folder: Path, *queues: str) -> Path:
    tasks = [{"count": 40, "duration.ms": 60_000, "container.memory-mb": 2048}]
    jobs = [
        {"job.id": f"{queue}{user}", "job.user": f"user{user}", "job.queue.name": queue}
        | {"job.start.ms": 5000 * user, "job.count": 3, "job.tasks": tasks}
        for queue in queues
        for user in range(2)
    ]
    path = folder / "jobs.json"
    path.write_text("\n".join(map(json.dumps, jobs)))
    return path


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (
            "nested-queues.xml",
            "nested-queues.xml:25: yarn.scheduler.capacity.root.user-limit-factor has no effect: "
            "there is no such queue, or no such key of a queue\n"
            "7 other settings have no effect here; --verbose lists them\n",
        ),
        ("converted-queues.xml", ""),
    ],
)
def test_files_as_operators_have_them_run_in_one_command(
    run: Run, tmp_path: Path, file: str, said: str
) -> None:
    jobs = trace(tmp_path, "build", "try")
    queues = ("--queues", str(DATA / "readers" / file))
    ended = run("yarn", str(jobs), "--nodes", "4:memory=32768,cores=16", *queues)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.replace(f"{DATA / 'readers'}/", "") == said
    rows = [line.split() for line in ended.stdout.splitlines()[3:8]]
    assert {row[0]: row[1] for row in rows if len(row) == 8} == {"build": "6", "try": "6"}


def test_what_the_resource_manager_answers_is_compared(run: Run, tmp_path: Path) -> None:
    files = []
    for name, share in (("before", 50), ("after", 80)):
        keys = {"root.queues": "production,analysts", "root.production.capacity": share}
        keys["root.analysts.capacity"] = 100 - share
        texts = (
            f"<property><name>yarn.scheduler.capacity.{key}</name><value>{value}</value></property>"
            for key, value in keys.items()
        )
        path = tmp_path / f"{name}.xml"
        path.write_text(f"<configuration>{''.join(texts)}</configuration>")
        files += ["--queues", str(path)]
    apps = DATA / "containers/apps.json"
    ended = run("yarn", str(apps), "--nodes", "3:memory=16384,cores=8", *files)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.splitlines() == [
        "1 of 6 applications left out: not ended yet",
        "1 of 6 applications left out: never given a container",
    ]
    assert ended.stdout.startswith("after instead of before, on average:\n  Jobs of production")


@needs_chromium
@pytest.mark.large
def test_the_page_answers_by_queue_on_its_first_screen(
    run: Run, guide: tuple[Path, list[list[str]]]
) -> None:
    folder, _ = guide
    files = ("--queues", "before.xml", "--queues", "after.xml", "--out", "answer")
    ended = run("compare", "day.json", "--nodes", "12:memory=32768,cores=16", *files, cwd=folder)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == "2 settings have no effect here; the report lists them\n"
    with browsing() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto((folder / "answer/report.html").as_uri())
        first, *others = page.locator("img:visible").all()
        assert page.locator("header li").first.inner_text().startswith("analysts waits 5 s less")
        box = first.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 800
        assert others == []
        assert page.evaluate("document.documentElement.scrollHeight") <= 4000
        for fold in page.locator("details.part > summary").all():
            fold.click()
        assert page.locator("img:visible").count() > 3
        assert "acl_submit_applications has no effect" in page.inner_text("body")
