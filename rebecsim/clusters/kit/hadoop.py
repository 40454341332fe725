"""What Hadoop's schedulers share: configuration files of properties, and fair shares.

    <configuration>
      <property>
        <name>yarn.scheduler.capacity.root.queues</name>
        <value>default</value>
      </property>
    </configuration>

If a name stands there twice, the last value counts, unless an earlier one is final. `${NAME}` in a
value is replaced by that property's value, as Hadoop does it.

Fair shares are weights between least and most. Everybody gets the weight times a ratio, but not
less than the least and not more than the most. The ratio for which all together get what there is
is found by bisection.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from rebecsim.workloads.safe_xml import Element, XmlError, read_xml

_VARIABLE = re.compile(r"\$\{([^${}\s]+)\}")
_LARGEST = 2**63 - 1
_MOST_REPLACED = 20  # as Hadoop's Configuration
_LONGEST = 100_000
_SWITCHES = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Property:
    """A property of a file, and the line on which it begins."""

    name: str
    value: str
    line: int
    final: bool = False


class HadoopProperties:
    """The properties of a file by name; it remembers which have been asked for.

    Attributes:
        file: what errors call the file.
        by_name: those that count.
    """

    def __init__(self, file: str, by_name: Mapping[str, Property]) -> None:
        self.file = file
        self.by_name = by_name
        self._used: set[str] = set()

    def text(self, name: str) -> str | None:
        """Give a value; None: the file does not say it, or says nothing. Raises XmlError."""
        found = self.by_name.get(name)
        if found is None:
            return None
        self._used.add(name)
        return self._replaced(found).strip() or None

    def whole(self, name: str, default: int, least: int | None = None) -> int:
        """Give a whole number. Raises XmlError for what is none, or less than the least."""
        text = self.text(name)
        if text is None:
            return default
        try:
            value = int(text)
        except ValueError:
            raise self.wrong(name, f"should be a whole number, not {text!r:.40}") from None
        if abs(value) > _LARGEST:
            raise self.wrong(name, f"should be {_LARGEST:,} at most, not {text:.40}")
        if least is not None and value < least:
            raise self.wrong(name, f"should be at least {least}, not {value}")
        return value

    def number(
        self, name: str, default: float, least: float | None = None, most: float | None = None
    ) -> float:
        """Give a number. Raises XmlError for what is none or not between least and most."""
        text = self.text(name)
        if text is None:
            return default
        value = number_of(text)
        if value is None:
            raise self.wrong(name, f"should be a number, not {text!r:.40}")
        if least is not None and value < least:
            raise self.wrong(name, f"should be at least {least:g}, not {value:g}")
        if most is not None and value > most:
            raise self.wrong(name, f"should be at most {most:g}, not {value:g}")
        return value

    def switch(self, name: str, default: bool) -> bool:
        """Give true or false. Raises XmlError for anything else."""
        text = self.text(name)
        if text is None:
            return default
        if text.lower() not in _SWITCHES:
            raise self.wrong(name, f"should be true or false, not {text!r:.40}")
        return _SWITCHES[text.lower()]

    def names(self, name: str) -> tuple[str, ...]:
        """Give a list with commas between its entries, without the empty ones."""
        text = self.text(name) or ""
        return tuple(filter(None, (each.strip() for each in text.split(","))))

    def line(self, name: str) -> int:
        """Give the line of a property, or 1 if the file does not say it."""
        found = self.by_name.get(name)
        return 1 if found is None else found.line

    def wrong(self, name: str, problem: str) -> XmlError:
        """Make the error that says what is wrong with a property."""
        return XmlError.at(self.file, self.line(name), f"{name}: {problem}")

    def unused(self, without_effect: Iterable[str] = ()) -> tuple[Property, ...]:
        """Give the properties that were never read, in their order, and those named here."""
        idle = set(without_effect)
        found = (
            each for name, each in self.by_name.items() if name not in self._used or name in idle
        )
        return tuple(sorted(found, key=lambda each: each.line))

    def _replaced(self, found: Property) -> str:
        text = found.value
        for _ in range(_MOST_REPLACED):
            variable = _VARIABLE.search(text)
            if variable is None:
                return text
            other = self.by_name.get(variable[1])
            if other is None:
                raise self.wrong(found.name, f"{variable[0]} is not a property of this file")
            self._used.add(variable[1])
            text = text[: variable.start()] + other.value + text[variable.end() :]
            if len(text) > _LONGEST:
                break
        raise self.wrong(found.name, "its ${...} refer to each other")


def read_properties(path: Path, name: str = "") -> HadoopProperties:
    """Read a configuration file of Hadoop; errors call it by `name`.

    Raises XmlError, with file and line, for what is none, OSError when it cannot be read.
    """
    return properties_of(read_xml(path, name))


def properties_of(root: Element) -> HadoopProperties:
    """Read the properties of a `<configuration>`. Raises XmlError."""
    if root.tag != "configuration":
        raise root.wrong(f"a <configuration> is expected, not <{root.tag}>")
    found: dict[str, Property] = {}
    for element in root.children:
        if element.tag == "configuration":
            raise element.wrong("a <configuration> in another; write its properties on their own")
        if element.tag != "property":
            raise element.wrong(f"a <property> is expected, not <{element.tag}>")
        each = _property(element)
        before = found.get(each.name)
        if before is None or not before.final:
            found[each.name] = each
    return HadoopProperties(root.file, found)


def _property(element: Element) -> Property:
    parts = dict(element.attributes)
    for each in element.children:
        if each.tag not in ("name", "value", "final", "description", "source", "tag"):
            raise each.wrong(f"<{each.tag}> does not belong in a property")
        parts[each.tag] = each.text
    name = parts.get("name", "").strip()
    if not name:
        raise element.wrong("a property without a name")
    if "value" not in parts:
        raise element.wrong(f"{name}: it has no value")
    return Property(name, parts["value"], element.line, parts.get("final", "").lower() == "true")


def number_of(text: str) -> float | None:
    """Read a finite number as Java writes it, maybe with f or d at its end; None: it is none."""
    match = re.fullmatch(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?)[fFdD]?\s*", text)
    if match is None or not math.isfinite(value := float(match[1])):
        return None
    return value


UNLIMITED = 2**63 - 1
"""More than anybody has."""

_BISECTIONS = 25


class Claim(NamedTuple):
    """What somebody should have of one resource, in whole units."""

    weight: float = 1.0
    least: int = 0
    most: int = UNLIMITED

    def at(self, ratio: float) -> int:
        """Give the share at a ratio, a whole number."""
        return min(max(int(self.weight * ratio), self.least), self.most)


def fair_shares(total: int, claims: Sequence[Claim]) -> list[int]:
    """Share what there is; in the order of the claims.

    Who may have nothing gets nothing, who has no weight gets the least. If no ratio gives exactly
    what there is, the sum is a few units more: after 25 steps the upper bound counts.
    """
    fixed = {
        place: 0 if claim.most <= 0 else max(0, claim.least)
        for place, claim in enumerate(claims)
        if claim.most <= 0 or claim.weight <= 0
    }
    rest = [claim for place, claim in enumerate(claims) if place not in fixed]
    shared = min(sum(each.most for each in rest), max(0, total - sum(fixed.values())))
    ratio = _ratio(shared, rest) if rest else 0.0
    return [
        fixed[place] if place in fixed else claim.at(ratio) for place, claim in enumerate(claims)
    ]


def _ratio(shared: int, claims: Sequence[Claim]) -> float:
    """Give a ratio at which claims together get what is shared, or a little more."""
    alike = Counter(claims).items()
    high = 1.0
    while sum(claim.at(high) * count for claim, count in alike) < shared:
        high *= 2
    low = 0.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        given = sum(claim.at(middle) * count for claim, count in alike)
        if given == shared:
            return middle
        if given < shared:
            low = middle
        else:
            high = middle
    return high
