"""The site: it can be built, holds every page, and needs no network to be read."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.docs.markdown import ROOT

pytest.importorskip("material", reason="the site is built with the packages of the extra `docs`")

OUTSIDE = {"project.html": "README.md", "benchmarks.html": "benchmarks/README.md"}
LOADING = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src"}
"""The tags by which a page loads something, with the attribute that says what."""


def build(source: Path, site: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", site],
        cwd=source,
        env={
            **os.environ,
            "NO_MKDOCS_2_WARNING": "1",
            "no_proxy": "",
            "https_proxy": "http://[::]:9",
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("site")
    done = build(ROOT, place)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr, done.stderr
    return place


@dataclass
class Page(HTMLParser):
    """What a built page loads, where it leads, and the places in it that can be led to."""

    file: Path
    loaded: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)
    navigation: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.file.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if "id" in given:
            self.anchors.add(given["id"])
        if given.get(LOADING.get(tag, "")):
            # A page may say where it is published.
            if given.get("rel") not in ("canonical", "next", "prev"):
                self.loaded.append(given[LOADING[tag]])
        elif tag == "a" and "href" in given:
            self.links.append(given["href"])
            if "md-nav__link" in given.get("class", ""):
                self.navigation.append(given["href"])


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {file: Page(file) for file in sorted(site.rglob("*.html"))}


def led_to(file: Path, link: str) -> tuple[Path, str]:
    """The file and anchor that a link of a page leads to."""
    target, _, anchor = link.partition("#")
    place = (file.parent / unquote(target)).resolve() if target else file
    return place / "index.html" if place.is_dir() else place, unquote(anchor)


@pytest.mark.large
def test_every_page_of_the_documentation_is_in_the_navigation(site, pages):
    front = pages[site / "index.html"]
    reached = {led_to(front.file, link)[0] for link in front.navigation if not link.startswith("#")}
    for source in ROOT.glob("docs/**/*.md"):
        page = site / source.relative_to(ROOT / "docs").with_suffix(".html")
        page = page.with_name("index.html") if source.name == "README.md" else page
        assert page in reached, f"{source.relative_to(ROOT)} is not in the nav of mkdocs.yml"
    assert {site / name for name in OUTSIDE} <= reached


@pytest.mark.large
def test_nothing_is_loaded_from_elsewhere(site, pages):
    for page in pages.values():
        for address in page.loaded:
            assert not re.match(r"(?i)([a-z]+:)?//", address), f"{page.file}: loads {address}"
            if not address.startswith("data:"):
                place, _ = led_to(page.file, address.partition("?")[0])
                assert page.file.name == "404.html" or place.is_file(), f"{page.file}: {address}"
    for sheet in site.rglob("*.css"):
        for address in re.findall(
            r"(?:url\(|@import)\s*['\"]?([^'\")]+)", sheet.read_text("utf-8")
        ):
            assert not re.match(r"(?i)(https?:)?//", address), f"{sheet}: loads {address}"


@pytest.mark.large
def test_every_link_leads_somewhere(site, pages):
    for page in pages.values():
        if page.file.name == "404.html":  # its links begin at the address of the site
            continue
        for link in page.links:
            if "://" in link or link.startswith("javascript:"):
                continue
            place, anchor = led_to(page.file, link)
            assert place.is_file(), f"{page.file.relative_to(site)}: {link}"
            if anchor and place in pages and not anchor.startswith("__"):
                assert anchor in pages[place].anchors, f"{page.file.relative_to(site)}: {link}"


@pytest.mark.large
def test_the_search_knows_every_page_without_a_server(site):
    index = (site / "search/search_index.js").read_text("utf-8")
    assert index.startswith("var __index = {")
    for source in ROOT.glob("docs/**/*.md"):
        if source.name != "README.md":
            page = source.relative_to(ROOT / "docs").with_suffix(".html").as_posix()
            assert f'"location":"{page}"' in index


@pytest.mark.large
def test_links_out_of_the_documentation_lead_to_pages_of_the_site(site, pages):
    semantics = pages[site / "background/semantics.html"]
    assert "../source/rebecsim/actors/semantics.py.html" in semantics.links
    assert 'class="k' in (site / "source/rebecsim/actors/semantics.py.html").read_text("utf-8")
    assert "project.html" in pages[site / "index.html"].links
    assert "guides/explore.html" in pages[site / "project.html"].links


@pytest.mark.large
def test_models_have_colours_and_blocks_have_names(site):
    text = (site / "reference/language.html").read_text("utf-8")
    assert '<span class="kd">reactiveclass</span>' in text
    assert '<span class="filename">refused: narrowing</span>' in text


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A copy of the settings with one page."""
    settings = (ROOT / "mkdocs.yml").read_text("utf-8")
    (tmp_path / "mkdocs.yml").write_text(settings.partition("\nnav:")[0])
    (tmp_path / "docs").mkdir()
    for name in ("hooks", "assets"):
        (tmp_path / "docs" / name).symlink_to(ROOT / "docs" / name)
    (tmp_path / "benchmarks").mkdir()
    for name in OUTSIDE.values():
        (tmp_path / name).write_text("# A title\n")
    return tmp_path


WRONG = {
    "[a](nothing.md)": "'nothing.md'",
    "[a](../nothing.py)": "'../nothing.py'",
    "[a](../../outside.py)": "'../../outside.py'",
    "[a](#nowhere)": "'#nowhere'",
    "[a](../README.md#nowhere)": "'project.md#nowhere'",
    "![a](nothing.svg)": "'nothing.svg'",
}
"""Links that lead nowhere, and what the complaint about each names."""


@pytest.mark.large
def test_right_links_do_not_stop_the_build(small):
    right = "# Title\n[a](README.md) [b](../README.md#a-title) [c](../benchmarks) [d](#title)\n"
    (small / "docs/README.md").write_text(right)
    done = build(small, small / "site")
    assert done.returncode == 0, done.stderr


@pytest.mark.large
def test_each_wrong_link_stops_the_build(small):
    """Each is a warning, and a build with any is aborted."""
    (small / "docs/README.md").write_text("\n\n".join(WRONG))
    done = build(small, small / "site")
    assert done.returncode != 0
    warnings = re.findall("^WARNING.*", done.stderr, re.MULTILINE)
    assert len(warnings) == len(WRONG), done.stderr
    for complaint in WRONG.values():
        named = [warning for warning in warnings if f"a link {complaint}" in warning]
        assert len(named) == 1, done.stderr
    assert f"Aborted with {len(WRONG)} warnings in strict mode" in done.stdout + done.stderr


def test_links_within_code_are_left_alone(tmp_path: Path) -> None:
    hooks = runpy.run_path(str(ROOT / "docs/hooks/pages.py"))
    text = "````text\n```\n[a](b.md)\n```\n````\n[a](c.md)\n"
    assert list(hooks["_linked"](tmp_path, text, "docs/a.md")) == [tmp_path / "docs/c.md"]
