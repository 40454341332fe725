"""Pictures of models, runs and state spaces."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rebecsim.files import write_text


@dataclass(frozen=True)
class Drawing:
    """A picture in SVG, which a notebook shows."""

    svg: str

    def save(self, path: str | Path) -> None:
        """Write the picture to a file. Raises OSError."""
        write_text(Path(path), self.svg)

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Drawing: {len(self.svg):,} characters of SVG; `save` writes them to a file>"
