"""Groups of nodes as an option gives them: `120:processors=2,memory=1048576`."""

from __future__ import annotations

import re

from rebecsim.errors import UserError
from rebecsim.printable import clipped

_NUMBER = re.compile(r"[0-9]{1,18}")


def node_group(text: str, example: str) -> tuple[int, dict[str, int]]:
    """Read how many nodes, and what each has. Raises UserError, with an example."""
    count, _, parts = text.partition(":")
    pairs = [part.partition("=")[::2] for part in parts.split(",")] if parts else []
    resources = {name.strip(): value.strip() for name, value in pairs}
    numbers = (count.strip(), *resources.values())
    if len(resources) < len(pairs) or not all(_NUMBER.fullmatch(each) for each in numbers):
        raise UserError(f"--nodes {clipped(text, 100)}: write it as {example}")
    return int(count), {name: int(value) for name, value in resources.items()}
