"""How much one user may have of a leaf queue."""

from __future__ import annotations

import math
from typing import NamedTuple

from rebecsim.arithmetic import float32
from rebecsim.clusters.yarn.queue_files.resources import NONE, Calculator, Resources


class UserRules(NamedTuple):
    """What limits of users depend on, beside what they have.

    Attributes:
        calculator: compares.
        total: of the nodes of the label in question.
        step: containers are multiples of it.
        minimum, maximum: what the queue should have, and may.
        percent: what a user has at least, percent of the queue's, in 32 bits.
        factor: what a user has at most, as a multiple of the minimum, in 32 bits; -1: no limit.
    """

    calculator: Calculator
    total: Resources
    step: Resources
    minimum: Resources
    maximum: Resources
    percent: float
    factor: float


class UserShares(NamedTuple):
    """What users of a leaf have.

    Attributes:
        ratio: the sum of the parts of the total that all of them have.
        used: what those have together among whom the queue is shared; None: of all users.
        weights: theirs.
    """

    ratio: float
    used: Resources | None
    weights: float


def user_limit(rules: UserRules, shares: UserShares, *, borrowed: bool = False) -> Resources:
    """Give what a user of weight 1 may have.

    A user is given something as long as he has no more than this, so that he may have one container
    more. `borrowed` is for nodes that others lend.
    """
    calculator, step, total = rules.calculator, rules.step, rules.total
    capacity = calculator.greater(total, rules.minimum, step)
    consumed = calculator.times_up(total, shares.ratio, step)
    is_below = calculator.less(total, consumed, capacity)
    current = capacity if is_below else consumed.plus(step)
    base = current if shares.used is None else shares.used.plus(step)
    least = current
    if rules.percent != 100:
        least = Resources(*(math.ceil(int(have * rules.percent) / 100) for have in current))
    share = calculator.greater(total, _part(base, shares.weights), least)
    if borrowed:
        hard = total
    elif rules.factor == -1 or rules.minimum == NONE:
        hard = calculator.down(rules.maximum, step)
    else:
        hard = capacity.times(rules.factor)
    return calculator.up(calculator.lesser(total, share, hard), step)


def weighted(rules: UserRules, limit: Resources, weight: float) -> Resources:
    """Give what a user of some weight may have."""
    if weight == 1:
        return limit  # which is a multiple of the step
    return rules.calculator.down(limit.times(float32(weight)), rules.step)


def _part(some: Resources, weights: float) -> Resources:
    """Divide and round up; 0 if there is no weight."""
    if not weights:
        return NONE
    memory, cores = float32(some.memory), float32(some.cores)
    return Resources(math.ceil(float32(memory / weights)), math.ceil(float32(cores / weights)))
