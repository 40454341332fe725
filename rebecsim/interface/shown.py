"""Pictures, and base classes of results that show themselves in a terminal or a notebook."""

from __future__ import annotations

import html
import io
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rebecsim.errors import UserError
from rebecsim.files import write_text

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure
    from rich.console import Group, RenderableType

_WIDTH = 100
"""Characters of a line in a notebook."""
_DOTS_PER_INCH = 100


class Shown(ABC):
    """Something that `rich` can print, with pictures beside it in a notebook."""

    @abstractmethod
    def __rich__(self) -> RenderableType:
        """Give what is printed."""

    def pictures(self) -> list[str]:
        """Give SVG pictures that a notebook shows below."""
        return []

    def _repr_html_(self) -> str:
        pictures = "".join(f"<div>{each}</div>" for each in self.pictures())
        return f"<pre>{html.escape(_plain(self.__rich__()))}</pre>{pictures}"

    def __str__(self) -> str:
        return _plain(self.__rich__())


class Tabular(ABC):
    """Something that is a table as well."""

    @abstractmethod
    def to_arrow(self) -> pa.Table:
        """Give the rows as an Arrow table."""

    def to_pandas(self) -> Any:
        """Give the rows as a pandas data frame. Raises UserError where pandas is not installed."""
        try:
            import pandas  # noqa: F401 - what Arrow makes data frames with
        except ImportError as error:
            raise UserError(
                "pandas is not installed; `pip install pandas`, or take `to_arrow()`"
            ) from error
        return self.to_arrow().to_pandas()


def grouped_parts(parts: Iterable[str | RenderableType]) -> Group:
    """Give lines and tables as one thing that can be printed."""
    from rich.console import Group
    from rich.text import Text

    return Group(*(Text(part) if isinstance(part, str) else part for part in parts))


def shown_figure(figure: Figure) -> Figure:
    """Have a notebook show a figure that was made without pyplot, which it would not know of."""

    def png() -> bytes:
        written = io.BytesIO()
        figure.savefig(written, format="png", dpi=_DOTS_PER_INCH)
        return written.getvalue()

    vars(figure)["_repr_png_"] = png
    return figure


def _plain(shown: RenderableType) -> str:
    """Print something to a text, whose control characters are written out."""
    from rich.console import Console

    from rebecsim.wording import printable

    written = io.StringIO()
    Console(file=written, width=_WIDTH, color_system=None).print(shown)
    lines = written.getvalue().splitlines()
    return "\n".join(printable(line.rstrip()) for line in lines)


@dataclass(frozen=True)
class Drawing:
    """A picture in SVG, which a notebook shows.

    >>> rs.load("ticket_service.rebeca").draw().svg[:4]
    '<svg'
    """

    svg: str

    def save(self, path: str | Path) -> None:
        """Write the picture to a file. Raises OSError."""
        write_text(Path(path), self.svg)

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Drawing: {len(self.svg):,} characters of SVG; `save` writes them to a file>"
