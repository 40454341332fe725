"""The pictures of the documents, which their commands draw.

`![...](../images/PAGE/FILE)` on the page PAGE shows what the blocks of that page have left in FILE.
`python -m tests.docs.pictures` does what the pages say and puts the pictures in their places.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from tests.docs.markdown import DOCUMENTS, ROOT, Document, read_document

IMAGES = ROOT / "docs/images"
_TOLERANCE = 12.0  # points, of charts that are some 460 wide
_CLIPPED = "clip-path"  # by the frame of a chart: what shows data, not the text around it


@dataclass(frozen=True)
class Picture:
    """A picture of a page: where the page shows it from, and the name that the commands use."""

    shown: Path
    name: str


def pictures_of(document: Document) -> list[Picture]:
    """The pictures of a page that its commands draw."""
    own = IMAGES / document.path.stem
    shown = [(document.path.parent / target).resolve() for _, target in document.images]
    return [
        Picture(file, file.relative_to(own).as_posix())
        for file in shown
        if file.is_relative_to(IMAGES)
    ]


def require_pictures(document: Document, directory: Path) -> None:
    """Assert that the pictures of a page are those that its commands have left in a directory."""
    for picture in pictures_of(document):
        drawn = directory / picture.name
        assert drawn.is_file(), f"{document.path}: no command draws {picture.name}"
        assert picture.shown.is_file(), f"{picture.shown} is not there: {_HELP}"
        assert same_picture(drawn.read_text("utf-8"), picture.shown.read_text("utf-8")), (
            f"{picture.shown} is not what the commands of {document.path} draw: {_HELP}"
        )


_HELP = "python -m tests.docs.pictures draws it again"


def same_picture(drawn: str, shown: str) -> bool:
    """Whether two drawings (SVG) show the same.

    Ours must be equal. Charts must be, too, if the same version of Matplotlib has made them;
    another one may put things a little elsewhere, but the curves have to be the same.
    """
    made_by = [re.findall(r"Matplotlib v[\d.]+", text) for text in (drawn, shown)]
    if made_by[0] == made_by[1]:
        return drawn == shown
    curves, others = _curves(drawn), _curves(shown)
    return [len(curve) for curve in curves] == [len(curve) for curve in others] and all(
        abs(x - y) <= _TOLERANCE
        for curve, other in zip(curves, others, strict=True)
        for x, y in zip(curve, other, strict=True)
    )


def _curves(svg: str) -> list[list[float]]:
    """The coordinates of everything that a chart shows within its frame."""
    return [
        [float(number) for number in re.findall(r"-?[\d.]+", path.get("d", ""))]
        for path in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}path")
        if path.get(_CLIPPED)
    ]


def draw(document: Document) -> None:
    """Do what a page says, and put what it draws in the place of its pictures."""
    from tests.docs.session import Session

    with tempfile.TemporaryDirectory() as directory:
        session = Session(Path(directory))
        for block in document.blocks:
            session.do(block)
        for picture in pictures_of(document):
            picture.shown.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(session.home / picture.name, picture.shown)
            print(picture.shown.relative_to(ROOT))


if __name__ == "__main__":
    for path in DOCUMENTS:
        if pictures_of(read_document(path)):
            draw(read_document(path))
