"""What each key of Slurm's files does here: what matters, what does not and why."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from rebecsim.clusters.slurm.files.lines import Pair
from rebecsim.wording import suggestion

Use = Literal["used", "no effect", "not simulated"]


@dataclass(frozen=True, slots=True)
class Setting:
    """A key of a file with its value, and what becomes of it.

    Attributes:
        file, line: where it stands.
        key, value: as written; a word of a list stands behind a slash: `PriorityFlags/MAX_TRES`.
        use: `not simulated` means that it can change who waits, but is not followed here.
        note: what is done with it, or why nothing is.
    """

    file: str
    line: int
    key: str
    value: str
    use: Use
    note: str

    @classmethod
    def of(cls, pair: Pair, use: Use, note: str) -> Setting:
        """Say what becomes of a pair."""
        return cls(pair.file, pair.line, pair.key, pair.value, use, note)


@dataclass(frozen=True, slots=True)
class Known:
    """A key that a file may have."""

    name: str
    use: Use
    note: str


Table = Mapping[str, Known]


def _read() -> dict[str, Table]:
    """Read the tables of settings.toml; keys are found in small letters."""
    tables: dict[str, Table] = {}
    for name, uses in tomllib.loads((Path(__file__).parent / "settings.toml").read_text()).items():
        found = [Known(key, "used", note) for key, note in uses.pop("used").items()]
        for use, groups in uses.items():
            found += [
                Known(key, use, note) for note, keys in groups.items() for key in keys.split()
            ]
        tables[name] = MappingProxyType({each.name.lower(): each for each in found})
    return tables


TABLES = _read()
"""By the name of a kind of line or list: what is known of each key or word."""


def find(table: Table, pair: Pair, what: str) -> Known:
    """Find a key of a file. Raises SlurmFileError, which names the nearest key."""
    known = table.get(pair.key.lower())
    if known is None:
        hint = suggestion(
            pair.key, [each.name for each in table.values()], "remove it, or mend its name"
        )
        raise pair.wrong(f"there is no key {pair.key} {what}; {hint}")
    return known


def find_word(table: Table, pair: Pair, word: str) -> Known:
    """Find a word of a list. Raises SlurmFileError, which names the nearest one."""
    known = table.get(word.lower())
    if known is None:
        names = [each.name for each in table.values()]
        hint = suggestion(word, names, "remove it, or mend its name")
        raise pair.wrong(f"{word:.40} is not known; {hint}")
    return known


def reported(pair: Pair, known: Known, word: str = "", value: str | None = None) -> Setting:
    """Say what becomes of a key, or of a word of its list."""
    key = f"{known.name}" if not word else f"{pair.key}/{known.name}"
    text = pair.value if value is None else value
    return Setting(pair.file, pair.line, key, text, known.use, known.note)


def unsupported(settings: Iterable[Setting]) -> tuple[Setting, ...]:
    """Give the settings that can change who waits but are not simulated."""
    return tuple(each for each in settings if each.use == "not simulated")
