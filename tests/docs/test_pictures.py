"""Pictures that are not what the commands draw are noticed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.markdown import ROOT, read_document
from tests.docs.pictures import IMAGES, require_pictures, same_picture

PAGE = ROOT / "docs/guides/explore.md"
CHART = IMAGES / "which-policy/bursts/charts/deadline_misses.svg"


@pytest.fixture
def drawn(tmp_path: Path) -> Path:
    for name in ("late.svg", "who.svg"):
        (tmp_path / name).write_bytes((IMAGES / "explore" / name).read_bytes())
    return tmp_path


def test_pictures_are_compared(drawn):
    require_pictures(read_document(PAGE), drawn)
    (drawn / "late.svg").write_text((drawn / "late.svg").read_text().replace("go()", "went()"))
    with pytest.raises(AssertionError, match=r"late.svg is not what the commands"):
        require_pictures(read_document(PAGE), drawn)
    (drawn / "late.svg").unlink()
    with pytest.raises(AssertionError, match=r"no command draws late.svg"):
        require_pictures(read_document(PAGE), drawn)


def test_charts_of_another_matplotlib_may_be_moved_a_little_but_show_the_same():
    chart = CHART.read_text("utf-8")
    other = chart.replace("Matplotlib v", "Matplotlib v0.")
    assert same_picture(chart, chart)
    assert not same_picture(chart, chart.replace(">EDF<", ">FIFO<").replace("M ", "M 1", 1))
    assert same_picture(chart, other)
    assert same_picture(chart, other.replace("<metadata>", "<metadata >"))
    clipped = other.index("clip-path")
    curve = other.rindex('<path d="M', 0, clipped)
    assert not same_picture(chart, other[:curve] + other[curve:].replace("L ", "L 9", 1))
    assert not same_picture(chart, other.replace("clip-path", "removed", 1))
