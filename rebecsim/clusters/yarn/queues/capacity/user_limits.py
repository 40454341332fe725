"""How much one user may have of a leaf queue."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from rebecsim.clusters.yarn.queue_files.resources import NONE, Calculator, Resources


class UserShare(NamedTuple):
    """What a user has of a queue, his weight, and whether an application of his asks for more."""

    used: Resources
    weight: float
    active: bool


class UserRules(NamedTuple):
    """What limits of users depend on, beside what they have.

    Attributes:
        calculator: compares.
        total: of the nodes of the label in question.
        step: containers are multiples of it.
        minimum, maximum: what the queue should have, and may.
        percent: what a user has at least, percent of the queue's.
        factor: what a user has at most, as a multiple of the minimum; -1: no limit.
    """

    calculator: Calculator
    total: Resources
    step: Resources
    minimum: Resources
    maximum: Resources
    percent: float
    factor: float


def user_limit(
    rules: UserRules, users: Iterable[UserShare], *, borrowed: bool = False, everybody: bool = False
) -> Resources:
    """Give what a user of weight 1 may have.

    A user is given something as long as he has no more than this, so that he may have one container
    more. `borrowed` is for nodes that others lend; `everybody` shares among all users instead of
    those who ask for more.
    """
    calculator, step = rules.calculator, rules.step
    shares = list(users)
    capacity = calculator.greater(rules.total, rules.minimum, step)
    consumed = calculator.times_up(
        rules.total, sum(calculator.ratio(each.used, rules.total) for each in shares), step
    )
    is_below = calculator.less(rules.total, consumed, capacity)
    current = capacity if is_below else consumed.plus(step)
    if everybody:
        base, weights = current, sum(each.weight for each in shares)
    else:
        active = [each for each in shares if each.active]
        base = step
        for each in active:
            base = base.plus(each.used)
        weights = sum(each.weight for each in active)
    fair = _part(base, weights) if weights > 0 else base
    least = Resources(*(math.ceil(int(have * rules.percent) / 100) for have in current))
    share = calculator.greater(rules.total, fair, least)
    if borrowed:
        hard = rules.total
    elif rules.factor == -1 or rules.minimum == NONE:
        hard = rules.maximum
    else:
        hard = capacity.times(rules.factor)
    return calculator.up(calculator.lesser(rules.total, share, hard), step)


def weighted(rules: UserRules, limit: Resources, weight: float) -> Resources:
    """Give what a user of some weight may have."""
    return limit if weight == 1 else rules.calculator.down(limit.times(weight), rules.step)


def _part(some: Resources, weights: float) -> Resources:
    return Resources(math.ceil(some.memory / weights), math.ceil(some.cores / weights))
