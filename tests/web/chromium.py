"""A browser of this machine, and a server of this process for it."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from rebecsim.web import Server, prepare

PROGRAM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")

AXE = Path(__file__).with_name("axe.min.js")

needs_chromium = pytest.mark.skipif(
    PROGRAM is None, reason="there is no Chromium: install it, or name it in the variable CHROMIUM"
)


@contextmanager
def running(models: Path | None, port: int = 0) -> Iterator[str]:
    """Run a server in a thread and give its address."""
    server: Server = prepare(models, "127.0.0.1", port)
    thread = threading.Thread(target=server.run, kwargs={"browser": False})
    thread.start()
    try:
        while not server.program.started:
            assert thread.is_alive()
            time.sleep(0.01)
        yield server.address
    finally:
        server.program.should_exit = True
        thread.join(timeout=60)


@contextmanager
def browsing() -> Iterator[Any]:
    """Start a browser."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=PROGRAM, args=["--no-sandbox"])
        yield browser
        browser.close()


def open_folds(page: Any) -> None:
    """Open all that is folded, so that it is checked too."""
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")


def assert_accessible(page: Any, width: int) -> None:
    """Check a page by the rules of axe, and that it is no wider than the window."""
    page.evaluate(AXE.read_text("utf-8"))
    found = page.evaluate("axe.run()")
    serious = [
        (each["id"], [node["html"] for node in each["nodes"]])
        for each in found["violations"]
        if each["impact"] in ("serious", "critical", "moderate")
    ]
    assert not serious
    assert page.evaluate("document.documentElement.scrollWidth") <= width
