"""Capacities as they are written: percent, weights, resources, or some of each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from rebecsim.clusters.kit.hadoop import number_of
from rebecsim.clusters.yarn.queue_files.resources import Resources

Unit = Literal["percent", "weight", "absolute"]

MOST_WEIGHT = 10_000

_WEIGHT = re.compile(r"(.+?)w", re.IGNORECASE)
_ABSOLUTE = re.compile(r"(\d{1,15})\s*([a-z]*)", re.IGNORECASE)
_MEGABYTES = {
    "": 1.0,
    "k": 1000 / 2**20,
    "m": 1e6 / 2**20,
    "g": 1e9 / 2**20,
    "t": 1e12 / 2**20,
    "ki": 1 / 1024,
    "mi": 1.0,
    "gi": 1024.0,
    "ti": 1024.0**2,
    "kb": 1 / 1024,
    "mb": 1.0,
    "gb": 1024.0,
    "tb": 1024.0**2,
}
_NAMES = {"memory": "memory", "memory-mb": "memory", "vcores": "cores"}


@dataclass(frozen=True, slots=True)
class Amount:
    """So much of one resource: percent of the parent's, a weight among siblings, or itself."""

    unit: Unit
    value: float


@dataclass(frozen=True, slots=True)
class Capacity:
    """How much a queue should have, or may.

    Attributes:
        memory: MB, if it is absolute.
        cores: None: nothing is said of them, next to an absolute memory.
        is_vector: whether it is written in brackets.
    """

    memory: Amount
    cores: Amount | None
    is_vector: bool = False

    @property
    def unit(self) -> Unit | None:
        """What both resources are given in; None: not the same."""
        if self.cores is not None and self.cores.unit != self.memory.unit:
            return None
        return self.memory.unit

    @property
    def percent(self) -> float:
        """The percent, 0 for capacities in other units."""
        return self.memory.value if self.unit == "percent" else 0.0

    @property
    def resources(self) -> Resources:
        """What is written of an absolute one."""
        cores = 0 if self.cores is None else self.cores.value
        return Resources(int(self.memory.value), int(cores))

    def __str__(self) -> str:
        if self.unit == "percent" and not self.is_vector:
            return f"{self.memory.value:g} %"
        if self.unit == "weight" and not self.is_vector:
            return f"{self.memory.value:g}w"
        named = (("memory", self.memory), ("vcores", self.cores))
        signs: dict[Unit, str] = {"percent": "%", "weight": "w", "absolute": ""}
        return ",".join(f"{n}={a.value:g}{signs[a.unit]}" for n, a in named if a is not None)


def percent(value: float) -> Capacity:
    """Give a capacity in percent."""
    return Capacity(Amount("percent", value), Amount("percent", value))


def read_capacity(text: str) -> Capacity | None:
    """Read a capacity; None: brackets without memory, which count as nothing.

    Raises ValueError, which says what is wrong with it.
    """
    text = text.strip()
    if text.startswith("["):
        return _vector(text)
    found = _amount(text, "memory")
    if found.unit == "absolute":
        found = Amount("percent", found.value)
    return Capacity(found, found)


def _vector(text: str) -> Capacity | None:
    if not text.endswith("]"):
        raise ValueError(f"{text!r:.60} has no closing bracket")
    given: dict[str, Amount] = {}
    for entry in filter(None, (each.strip() for each in text[1:-1].split(","))):
        name, equals, value = (part.strip() for part in entry.partition("="))
        if not equals or name not in _NAMES:
            raise ValueError(f"{entry!r:.40} should be memory=... or vcores=...")
        if _NAMES[name] in given:
            raise ValueError(f"{name} is given twice in {text!r:.60}")
        given[_NAMES[name]] = _amount(value, _NAMES[name])
    if "memory" not in given:
        return None
    return Capacity(given["memory"], given.get("cores"), is_vector=True)


def _amount(text: str, name: str) -> Amount:
    if text.endswith("%"):
        return Amount("percent", _number(text[:-1], text))
    weight = _WEIGHT.fullmatch(text)
    if weight is not None:
        return Amount("weight", _number(weight[1], text))
    absolute = _ABSOLUTE.fullmatch(text)
    if absolute is not None and absolute[2]:
        if name != "memory" or absolute[2].lower() not in _MEGABYTES:
            raise ValueError(f"the unit of {text!r:.40} is not known; memory has Mi, Gi or Ti")
        return Amount("absolute", int(int(absolute[1]) * _MEGABYTES[absolute[2].lower()]))
    return Amount("absolute", _number(text, text))


def _number(text: str, whole: str) -> float:
    found = number_of(text)
    if found is None:
        raise ValueError(f"{whole!r:.40} is not a percentage, a weight such as 2w, or an amount")
    return found
