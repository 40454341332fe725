"""The pairs of one thing (the cluster, a node, a partition) by key, read as what they mean."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from rebecsim.clusters.slurm.files.lines import Pair
from rebecsim.wording import suggestion
from rebecsim.workloads.sacct import duration, limit, megabytes, number, switch

Read = TypeVar("Read")


class Values:
    """Pairs by key in small letters; the last one of a key counts."""

    def __init__(
        self, pairs: Iterable[Pair] = (), defaults: Mapping[str, Pair] | None = None
    ) -> None:
        self.pairs: dict[str, Pair] = dict(defaults or {})
        self.pairs.update((each.key.lower(), each) for each in pairs)

    def __contains__(self, key: str) -> bool:
        return key in self.pairs

    def text(self, key: str, default: str = "") -> str:
        """Give the value as written."""
        found = self.pairs.get(key)
        return default if found is None else found.value.strip()

    def read(self, key: str, reader: Callable[[str], Read], default: Read) -> Read:
        """Read the value, or give the default. Raises SlurmFileError."""
        found = self.pairs.get(key)
        if found is None:
            return default
        try:
            return reader(found.value)
        except ValueError as error:
            raise found.wrong(str(error)) from None

    def number(self, key: str, default: int) -> int:
        """Read a whole number."""
        return self.read(key, number, default)

    def limit(self, key: str, default: int | None = None) -> int | None:
        """Read a whole number; None: no limit."""
        return self.read(key, limit, default)

    def duration(self, key: str, default: int | None = None) -> int | None:
        """Read a time that is in minutes if it is one number, seconds; None: no limit."""
        return self.read(key, duration, default)

    def seconds(self, key: str, default: int) -> int:
        """Read such a time that has to end."""
        return self.read(key, _finite, default)

    def memory(self, key: str) -> int | None:
        """Read MB; 0 and nothing are no limit."""
        return (
            self.read(key, lambda text: limit(text) if text == "-1" else megabytes(text), None)
            or None
        )

    def switch(self, key: str, default: bool = False) -> bool:
        """Read YES or NO."""
        return self.read(key, switch, default)

    def one_of(self, key: str, choices: Mapping[str, Read], default: Read) -> Read:
        """Read one of some words, given in small letters."""
        found = self.pairs.get(key)
        if found is None:
            return default
        word = found.value.strip().lower()
        if word not in choices:
            raise found.wrong(f"{word:.40} is not known; {suggestion(word, list(choices))}")
        return choices[word]

    def words(self, key: str) -> tuple[str, ...]:
        """Give what stands between the commas of the value."""
        found = self.pairs.get(key)
        return () if found is None else found.words()


def _finite(text: str) -> int:
    value = duration(text)
    if value is None:
        raise ValueError("a time that ends is expected")
    return value
