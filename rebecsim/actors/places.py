"""Find places in the Rebeca text from which a model was generated."""

from __future__ import annotations

import re

SOURCE = "__rebecsim_source__"
"""The global of a module written from Rebeca that holds its text, whose comments name lines."""

_LINE = re.compile(r"# (?:.*, )?line (\d+)$")


def line_of_rebeca(source: str, line: int) -> int | str:
    """Give the line of Rebeca that a line of a generated module was written from."""
    lines = source.splitlines()[:line]
    noted = (_LINE.search(each) for each in reversed(lines))
    return next((int(each[1]) for each in noted if each is not None), "?")
