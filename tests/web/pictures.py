"""Take pictures of all pages: `python -m tests.web.pictures FOLDER [--only WORD] [--site FOLDER]`.

Each page is taken at 1280 and at 390 pixels, light and dark, as far down as it goes. A line
for each picture says how high it is, and whether the page is wider than its window.
"""

from __future__ import annotations

import argparse
import itertools
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.web.chromium import browsing, running

WIDTHS = (1280, 390)
COLOURS = ("light", "dark")
SCENARIOS = ("for_edf", "fifo_or_fair", "changed_queues", "user_limit", "backfilling_or_fairshare")
SCENARIOS += ("budgets_or_deadlines", "fresh_readings", "elastic_or_regular")
FORMS = ("for_edf", "fifo_or_fair", "user_limit", "backfilling_or_fairshare", "fresh_readings")
COMPARED = ("fifo_or_fair", "elastic_or_regular")
FEW = {"for_edf": ("--replications", "100")}
"""Options of scenarios that take long."""

DRAWN = """() => !document.querySelector('[hx-trigger^="every"]')
    && [...document.images].filter(each => each.checkVisibility())
        .every(each => { each.loading = "eager"; return each.complete; })"""
"""Whether searches have ended and all images that are seen are there, also further down."""


def make_site(site: Path) -> None:
    """Fill a folder with a model and with a run of each scenario, where they are not there."""
    models = Path(__file__).parents[2] / "models"
    (site / "office.rebeca").write_bytes((models / "ticket_service.rebeca").read_bytes())
    for name in SCENARIOS:
        command = [sys.executable, "-m", "rebecsim", "compare", name, *FEW.get(name, ())]
        if not (site / name).exists():
            subprocess.run([*command, "--out", site / name], check=True, stdout=subprocess.DEVNULL)


def addresses(page: Any, address: str, site: Path) -> Iterator[tuple[str, str]]:
    """Give the name and the address of each page; some are found by the links that lead there."""
    for name in ("", "lessons", "studies", "tour/4"):
        yield name.replace("/", "-") or "models", f"{address}{name}"
    for name in ("train_crossing", "teacher", "plan", "quiz"):
        yield f"lessons-{name}", f"{address}lessons/{name}"
    page.goto(address)
    model = page.get_by_role("link", name="Explore office").get_attribute("href")
    run = f"{address.rstrip('/')}{model.removesuffix('-')}"
    yield "explorer-begin", f"{run}-"
    yield "explorer", f"{run}0.0.0.0.0.0"
    yield "graph", f"{run}0.0/graph"
    yield "races", f"{run}0.0/races"
    yield "beside", f"{run}0.0.0.0/beside?with=0.1.0.0"
    yield "editor", f"{address}edit?file=office.rebeca"
    yield "runs", f"{address}runs"
    page.goto(f"{address}runs")
    for link in page.locator("tbody th a").all():
        yield f"run-{link.inner_text()}", f"{address.rstrip('/')}{link.get_attribute('href')}"
    rows = page.locator("tbody tr")
    alike = rows.filter(has_text=re.compile("|".join(COMPARED)))
    compared = (alike if alike.count() else rows).all()[:2]
    chosen = [each.locator("[name=run]").get_attribute("value") for each in compared]
    yield "diff", f"{address}runs/diff?run={chosen[0]}&run={chosen[1]}"
    yield "sql", f"{address}runs/sql"
    for name in FORMS:
        yield f"form-{name}", f"{address}studies/new?from={name}"
    yield "form-yarn", f"{address}studies/new?kind=yarn"
    yield "no-such-page", f"{address}nothing"
    for report in sorted(site.glob("*/report.html")):
        yield f"report-{report.parent.name}", report.as_uri()


def take_pictures(folder: Path, site: Path, only: str) -> None:
    """Take them, a file for each page, width and colours."""
    make_site(site)
    folder.mkdir(parents=True, exist_ok=True)
    with running(site) as address, browsing() as browser:
        pages = list(addresses(browser.new_page(), address, site))
        for colours, width in itertools.product(COLOURS, WIDTHS):
            window = {"width": width, "height": 800 if width > 400 else 844}
            context = browser.new_context(viewport=window, color_scheme=colours)
            page = context.new_page()
            for name, place in pages:
                if not re.search(only, file := f"{name}-{width}-{colours}"):
                    continue
                page.goto(place, wait_until="networkidle")
                page.wait_for_function(DRAWN, timeout=120_000)
                page.wait_for_timeout(300)
                wide, high = page.evaluate(
                    "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
                )
                print(f"{file:45} {high:6}", "" if wide <= width else f"is {wide} wide", flush=True)
                page.screenshot(path=folder / f"{file}.png", full_page=True, timeout=60_000)
            context.close()


if __name__ == "__main__":
    read = argparse.ArgumentParser(description=__doc__)
    read.add_argument("folder", type=Path)
    read.add_argument("--only", default="", help="a regular expression for NAME-WIDTH-COLOURS")
    read.add_argument("--site", type=Path, help="where models and runs are, or are to be made")
    given = read.parse_args()
    with tempfile.TemporaryDirectory() as made:
        take_pictures(given.folder, given.site or Path(made), given.only)
