"""Settings of policies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from rebecsim.errors import UserError

BackfillOrder = Literal["queue", "shortest"]
BACKFILL_ORDERS: tuple[BackfillOrder, ...] = get_args(BackfillOrder)


UsageOf = Literal["running", "ended"]
USAGES: tuple[UsageOf, ...] = get_args(UsageOf)


@dataclass(frozen=True, kw_only=True)
class PolicySettings:
    """The numbers that policies go by; each policy looks at those that concern it."""

    backfill_order: BackfillOrder = "queue"
    """In which order EASY tries jobs behind the head: the queue's, or the shortest estimate first
    (of equals the one submitted first)."""

    usage: UsageOf = "running"
    """Fairshare: usage accrues while jobs run (Toth and Klusacek, JSSPP 2014), or a job counts with
    all its processor seconds when it has ended, as in the simulator Alea."""

    half_life: int | None = None
    """Fairshare: seconds after which past usage counts half, again and again; None: never."""

    window: int | None = None
    """Fairshare: usage counts for so many seconds, after the end of the job where only `ended` jobs
    count; None: for ever."""

    refresh: int = 3600
    """Fairshare: seconds between two looks at the usage; in between, a job keeps the place in the
    queue that its user's usage gave it when it was submitted."""

    clock_lead: int = 0
    """Fairshare: seconds that the scheduler's clock, by whose multiples usage is looked at and
    halved, has run when the first job is submitted."""

    queue_priorities: Mapping[int, int] = field(default_factory=dict)
    """Priority: rank of each queue of the log, the smallest first; the queue's number if it is not
    given."""

    def __post_init__(self) -> None:
        if self.backfill_order not in BACKFILL_ORDERS:
            known = ", ".join(BACKFILL_ORDERS)
            raise UserError(f"no backfill order {self.backfill_order!r}; known are {known}")
        if self.usage not in USAGES:
            raise UserError(f"no usage of {self.usage!r} jobs; known are {', '.join(USAGES)}")
        for name in ("half_life", "window", "refresh"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UserError(f"{name} is {value}; give it at least 1 s")
        if self.clock_lead < 0:
            raise UserError(f"clock_lead is {self.clock_lead}; give it 0 s or more")
