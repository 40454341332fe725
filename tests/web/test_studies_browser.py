"""A study in a real browser: written, started, watched, stopped, and found again."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rebecsim.web.studies.study_process import ALIVE, StartedStudy
from tests.waiting import wait_for
from tests.web.chromium import browsing, needs_chromium
from tests.web.runs import SCENARIO

pytestmark = [needs_chromium, pytest.mark.filterwarnings("ignore::ResourceWarning")]

LONG = SCENARIO.format(title='"Long"', seed=7).replace("ticks = 12", "ticks = 300")
"""Takes minutes with many cells, and is never done by these tests."""


class ServerProcess:
    """The program as a user starts it, always at one port."""

    def __init__(self, root: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._options = ("--no-browser", "--port", str(free.getsockname()[1]))
        self._root = root
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "rebecsim", "web", str(self._root), *self._options],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
        )
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()

    def end(self, number: int) -> None:
        self.process.send_signal(number)
        self.process.wait(60)
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerProcess]:
    found = ServerProcess(tmp_path)
    yield found
    found.end(signal.SIGKILL)
    for place in tmp_path.iterdir():
        if (study := StartedStudy(place)).state in ALIVE - {"starting"}:
            study.cancel()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with browsing() as found:
        yield found


def opened(page: Any, address: str) -> None:
    """Open a page of a server that has just been started."""

    def is_there() -> bool:
        try:
            return bool(page.goto(address).ok)
        except Exception:  # it does not listen yet
            return False

    wait_for(is_there)


@pytest.mark.slow
def test_a_study_goes_on_whatever_happens_to_browser_and_server(
    browser: Any, server: ServerProcess, tmp_path: Path
) -> None:
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    opened(page, f"{server.address}studies/new?kind=dispatch")

    # The options and the text are in step.
    page.locator("#toml").fill(LONG)
    wait_for(lambda: page.get_by_label("seed").input_value() == "7")
    page.get_by_label("ticks").fill("0")
    page.get_by_label("ticks").press("Tab")
    wrong = page.locator("[id='p:ticks']", has_text="must be at least 1")
    wrong.wait_for()
    assert "ticks = 0" in page.locator("#toml").input_value()
    page.get_by_label("ticks").fill("300")
    page.get_by_label("app masters").fill(", ".join(map(str, range(1, 21))))
    page.get_by_label("replications").fill("12000")
    page.get_by_label("replications").press("Tab")
    page.locator("#said", has_text="40 cells, 480,000 runs").wait_for()
    assert not wrong.is_visible()
    assert tomllib.loads(page.locator("#toml").input_value())["app_masters"] == list(range(1, 21))

    # A table is added to a list, filled in by the keyboard, and taken out again.
    page.get_by_role("button", name="Add one to arrivals").click()
    added = page.get_by_role("group", name="arrivals 2", exact=True)
    added.get_by_label("count").wait_for()
    wait_for(lambda: page.evaluate("document.activeElement.id") == "f:arrivals[1].pattern")
    page.keyboard.type("bursty")
    page.keyboard.press("Tab")
    wait_for(lambda: page.evaluate("document.activeElement.id") == "f:arrivals[1].size")
    page.keyboard.type("3")
    page.keyboard.press("Enter")  # is for the field, and starts nothing
    page.keyboard.press("Tab")
    page.keyboard.type("5")
    page.keyboard.press("Tab")
    page.locator("#said", has_text="80 cells, 960,000 runs").wait_for()
    assert 'pattern = "bursty"\nsize = 3\ninterval = 5' in page.locator("#toml").input_value()
    added.get_by_role("button", name="Remove").click()
    page.locator("#said", has_text="40 cells, 480,000 runs").wait_for()
    wait_for(lambda: page.evaluate("document.activeElement.id") == "a:arrivals")
    page.locator("#toml").fill(page.locator("#toml").input_value() + "\n[[lengths]]\n")
    page.get_by_role("group", name="lengths 2", exact=True).wait_for()
    page.get_by_role("button", name="Remove lengths 2").click()
    page.locator("#said", has_text="40 cells, 480,000 runs").wait_for()
    page.get_by_label("Other orders").uncheck()
    page.get_by_label("Name of its directory").fill("long")
    page.get_by_role("button", name="Start").click()

    # Figures come as cells finish, without the page being loaded again.
    page.get_by_role("button", name="Pause").wait_for(timeout=60_000)
    here = page.url
    page.evaluate("window.isSame = true")
    page.locator("#study-figures .charts img").first.wait_for(timeout=60_000)
    assert page.evaluate("window.isSame")
    assert page.get_by_role("link", name="The run: report").is_visible()
    assert page.get_by_role("progressbar").count() == 1
    assert "40 cells, 480000 runs" in page.locator("#study-log").inner_text()

    page.get_by_role("button", name="Pause").click()
    page.locator("#study-controls", has_text="Paused").wait_for()
    study = StartedStudy(tmp_path / "long")
    assert study.state == "paused"
    page.get_by_role("button", name="Resume").click()
    page.locator("#study-controls", has_text="Running").wait_for()

    # The server is killed, and started again: the study has gone on, and the page finds it.
    server.end(signal.SIGKILL)
    assert study.state == "running"
    server.start()
    opened(page, here)
    page.get_by_role("button", name="Cancel").click()
    page.locator("#study-controls", has_text="Cancelled").wait_for(timeout=60_000)
    parts = set((tmp_path / "long/parts").iterdir())
    assert 0 < len(parts) < 40
    page.get_by_role("button", name="Resume").click()
    page.get_by_role("button", name="Pause").wait_for(timeout=60_000)
    wait_for(lambda: len(set((tmp_path / "long/parts").glob("[!.]*")) - parts) > 0)
    page.get_by_role("button", name="Cancel").click()
    page.locator("#study-controls", has_text="Cancelled").wait_for(timeout=60_000)
    assert parts <= set((tmp_path / "long/parts").iterdir())  # what was finished is kept

    page.get_by_role("link", name="Runs").click()
    page.get_by_role("row", name="long").wait_for()
    assert not complaints
    server.end(signal.SIGINT)
    assert server.process.returncode == 130
    server.start()
