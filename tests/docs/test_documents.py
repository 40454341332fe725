"""Every command, scenario, model and program in the documentation does what is said there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from functools import lru_cache
from pathlib import Path

import pytest

from rebecsim.studies import simulated
from tests.docs.markdown import DOCUMENTS, ROOT, read_document
from tests.docs.pictures import IMAGES, pictures_of
from tests.docs.session import Run, Session
from tests.program import undrawn


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


SLOW = {
    "docs/conformance.md",
    "docs/guides/compare-workloads.md",
    "docs/guides/workloads.md",
    "docs/reference/workload-scenario.md",
    "docs/tutorial/which-policy.md",
}


@pytest.fixture(scope="module", autouse=True)
def remembered_runs() -> Iterator[None]:
    """Run once what several commands run: the README compares what it reproduces."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(simulated, "run_task", lru_cache(100)(simulated.run_task))
        yield


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=name_of(path), marks=[pytest.mark.slow] * (name_of(path) in SLOW))
        for path in DOCUMENTS
    ],
)
def test_the_blocks_of_a_document_are_right(path: Path, tmp_path: Path, run: Run) -> None:
    document = read_document(path)
    looked_at = pictures_of(document)
    with nullcontext() if looked_at else undrawn():
        Session(tmp_path, run).follow(document)


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_the_links_of_a_document_lead_somewhere(path: Path) -> None:
    for line, target in read_document(path).links:
        if "://" in target:
            continue
        file, _, anchor = target.partition("#")
        place = (path.parent / file).resolve() if file else path
        assert place.exists(), f"{name_of(path)}:{line}: {target}"
        if anchor:
            assert anchor in read_document(place).anchors, f"{name_of(path)}:{line}: {target}"


def test_the_index_names_every_page() -> None:
    index = ROOT / "docs/README.md"
    linked = {(index.parent / target).resolve() for _, target in read_document(index).links}
    pages = set(ROOT.glob("docs/**/*.md")) - {index}
    assert pages <= linked


def test_the_page_of_every_model_shows_its_races() -> None:
    for page in set(ROOT.glob("docs/models/*.md")) - {ROOT / "docs/models/README.md"}:
        assert "$ rebecsim races models/" in page.read_text("utf-8"), page.name


def test_the_first_screen_shows_commands_that_the_makefile_has() -> None:
    first_screen = (ROOT / "README.md").read_text("utf-8").splitlines()[:40]
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for target in ("demo", "test"):
        assert any(line.startswith(f"make {target}") for line in first_screen)
        assert f"\n{target}:" in makefile


def test_every_picture_is_shown() -> None:
    shown = {picture.shown for path in DOCUMENTS for picture in pictures_of(read_document(path))}
    assert set(IMAGES.glob("**/*.*")) == shown
