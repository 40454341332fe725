"""Memory and cores, and how Hadoop's resource calculators compare them.

The default calculator looks at memory alone; the dominant one at that of which somebody has the
largest part of a whole, and then at the other (Ghodsi and others, NSDI 2011).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import NamedTuple

from rebecsim.actors import Constant
from rebecsim.arithmetic import float32

_new = tuple.__new__
"""Makes resources twice as fast as a call of their class does; most of a run is spent on them."""


class _Amounts(NamedTuple):
    memory: int
    cores: int


class Resources(_Amounts, Constant):
    """MB and cores."""

    __slots__ = ()

    def plus(self, other: Resources) -> Resources:
        """Add component by component."""
        return _new(Resources, (self[0] + other[0], self[1] + other[1]))

    def minus(self, other: Resources) -> Resources:
        """Take away component by component; what is less than nothing stays so."""
        return _new(Resources, (self[0] - other[0], self[1] - other[1]))

    def times(self, factor: float) -> Resources:
        """Multiply, and cut to whole numbers."""
        return Resources(int(self.memory * factor), int(self.cores * factor))

    def least(self, other: Resources) -> Resources:
        """Give the lesser of each component."""
        return Resources(min(self.memory, other.memory), min(self.cores, other.cores))

    def most(self, other: Resources) -> Resources:
        """Give the greater of each component."""
        return Resources(max(self.memory, other.memory), max(self.cores, other.cores))

    def not_negative(self) -> Resources:
        """Give 0 for what is less."""
        return Resources(max(self.memory, 0), max(self.cores, 0))

    def within(self, other: Resources) -> bool:
        """Whether no component is more than that of the other."""
        return self[0] <= other[0] and self[1] <= other[1]


NONE = Resources(0, 0)


def total_of(parts: Iterable[Resources]) -> Resources:
    """Add up."""
    memory = cores = 0
    for part in parts:
        memory += part.memory
        cores += part.cores
    return Resources(memory, cores)


_EXACT = 2**24
"""Whole numbers up to here are the same in 32 bits."""


def rounded_up(value: int, step: int) -> int:
    """Give the next multiple of a step; without a step, the value."""
    return -(-value // step) * step if step > 0 else value


def rounded_down(value: int, step: int) -> int:
    """Give the next multiple of a step towards 0; without a step, the value."""
    if step <= 0:
        return value
    return value // step * step if value >= 0 else -(-value // step * step)


class Calculator(Constant, ABC):
    """Compares resources and rounds them."""

    def up(self, value: Resources, step: Resources) -> Resources:
        """Round up to multiples of a step."""
        return Resources(rounded_up(value.memory, step.memory), rounded_up(value.cores, step.cores))

    def down(self, value: Resources, step: Resources) -> Resources:
        """Round down to multiples of a step."""
        (memory, cores), (by, by_cores) = value, step
        if memory >= 0 <= cores and by > 0 < by_cores:
            return _new(Resources, (memory - memory % by, cores - cores % by_cores))
        return Resources(rounded_down(memory, by), rounded_down(cores, by_cores))

    @abstractmethod
    def times_up(self, value: Resources, factor: float, step: Resources) -> Resources:
        """Multiply and round up to multiples of a step."""

    @abstractmethod
    def key(self, total: Resources, value: Resources) -> tuple[float, float]:
        """Give what is compared where the whole is `total`."""

    def less(self, total: Resources, one: Resources, other: Resources) -> bool:
        """Whether one is less than the other."""
        return self.key(total, one) < self.key(total, other)

    def lesser(self, total: Resources, one: Resources, other: Resources) -> Resources:
        """Give the lesser of two, as a whole."""
        return other if self.less(total, other, one) else one

    def greater(self, total: Resources, one: Resources, other: Resources) -> Resources:
        """Give the greater of two, as a whole."""
        return other if self.less(total, one, other) else one

    def divided(self, total: Resources, one: Resources, other: Resources) -> float:
        """Give how often one is the other, by what counts most of each, in 32 bits."""
        part = self.key(total, other)[0]
        return float32(self.key(total, one)[0] / part) if part else 0.0

    @abstractmethod
    def fits(self, small: Resources, large: Resources) -> bool:
        """Whether all that counts of one is in the other."""

    @abstractmethod
    def is_some(self, value: Resources) -> bool:
        """Whether something that counts is more than nothing."""

    @abstractmethod
    def ratio(self, one: Resources, other: Resources) -> float:
        """Give the largest of the parts that components of one are of the other's, in 32 bits."""


class MemoryCalculator(Calculator):
    """Memory alone counts."""

    def key(self, total: Resources, value: Resources) -> tuple[float, float]:
        """Give the memory."""
        return value.memory, 0

    def less(self, total: Resources, one: Resources, other: Resources) -> bool:
        """Whether one memory is less than the other."""
        return one[0] < other[0]

    def lesser(self, total: Resources, one: Resources, other: Resources) -> Resources:
        """Give the one with less memory."""
        return other if other[0] < one[0] else one

    def greater(self, total: Resources, one: Resources, other: Resources) -> Resources:
        """Give the one with more memory."""
        return other if one[0] < other[0] else one

    def divided(self, total: Resources, one: Resources, other: Resources) -> float:
        """Give how often one memory is the other, in 32 bits."""
        return float32(one[0] / other[0]) if other[0] else 0.0

    def times_up(self, value: Resources, factor: float, step: Resources) -> Resources:
        """Multiply, round to the nearest MB, and up to multiples of a step."""
        return self.up(Resources(int(value.memory * factor + 0.5), 0), step)

    def fits(self, small: Resources, large: Resources) -> bool:
        """Whether the memory does."""
        return small[0] <= large[0]

    def is_some(self, value: Resources) -> bool:
        """Whether the memory is."""
        return value[0] > 0

    def ratio(self, one: Resources, other: Resources) -> float:
        """Give the part that one memory is of the other."""
        return _part(one.memory, other.memory)


class DominantCalculator(Calculator):
    """What counts is the resource of which there is the largest part of the whole."""

    def key(self, total: Resources, value: Resources) -> tuple[float, float]:
        """Give the larger part of the whole, then the smaller one."""
        memory = value.memory / total.memory if total.memory else float(value.memory)
        cores = value.cores / total.cores if total.cores else float(value.cores)
        return (memory, cores) if memory >= cores else (cores, memory)

    def times_up(self, value: Resources, factor: float, step: Resources) -> Resources:
        """Multiply and round up, after a cast to 32 bits, which hides what is a little too much."""
        memory, cores = float32(value.memory * factor), float32(value.cores * factor)
        return self.up(Resources(math.ceil(memory), math.ceil(cores)), step)

    def fits(self, small: Resources, large: Resources) -> bool:
        """Whether both do."""
        return small.within(large)

    def is_some(self, value: Resources) -> bool:
        """Whether one of both is."""
        return value.memory > 0 or value.cores > 0

    def ratio(self, one: Resources, other: Resources) -> float:
        """Give the larger part."""
        return max(_part(one.memory, other.memory), _part(one.cores, other.cores))


def _part(one: int, other: int) -> float:
    if other:
        whole = other if other <= _EXACT else float32(other)
        return float32((one if one <= _EXACT else float32(one)) / whole)
    return math.inf if one else 0.0


MEMORY, DOMINANT = MemoryCalculator(), DominantCalculator()
