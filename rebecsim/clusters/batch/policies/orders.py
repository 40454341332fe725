"""In which order the jobs wait: the first half of a policy, its settings, and decayed usage.

An order gives each job a key when it is submitted; the smallest key is the head of the queue, and
of equal keys the job that was submitted first. An order of your own is a subclass with the one
method `key`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from rebecsim.actors import Constant, StatePart
from rebecsim.clusters.batch.machine import Job
from rebecsim.studies.scenario import Table, within

MOST_SECONDS = 2**53


class Settings(Table):
    """The numbers that policies go by."""

    backfill_order: Literal["queue", "shortest"] = Field(
        "queue", description="EASY: which jobs are tried first"
    )
    usage: Literal["running", "ended"] = Field(
        "running",
        description="fairshare: usage accrues while jobs run, or counts when they have ended",
    )
    half_life: Annotated[int | None, within(1, MOST_SECONDS, "seconds")] = Field(
        None, description="fairshare: until usage counts half"
    )
    window: Annotated[int | None, within(1, MOST_SECONDS, "seconds")] = Field(
        None, description="fairshare: until usage is forgotten"
    )
    refresh: Annotated[int, within(1, MOST_SECONDS, "seconds")] = Field(
        3600, description="fairshare: between two looks at the usage"
    )


class PolicySettings(Settings, Constant):
    """The numbers that policies go by; each policy looks at those that concern it.

    EASY tries jobs behind the head in the order of the queue, or the shortest estimate first (of
    equals the one submitted first). Usage accrues while jobs run (Toth and Klusacek, JSSPP 2014),
    or a job counts with all its processor seconds when it has ended, as in the simulator Alea.
    Between two looks at the usage, a job keeps the place in the queue that its user's usage gave it
    when it was submitted.
    """

    clock_lead: int = Field(0, ge=0)
    """Fairshare: seconds that the scheduler's clock, by whose multiples usage is looked at and
    halved, has run when the first job is submitted."""

    queue_priorities: Mapping[int, int] = {}
    """Priority: rank of each queue of the log, the smallest first; the queue's number if it is not
    given."""

    def __hash__(self) -> int:
        return hash((self.usage, self.half_life, self.window, self.refresh))


class _Account(StatePart):
    """The usage of one user as of the last time that somebody looked."""

    __slots__ = ("at", "spans", "total", "width")

    def __init__(self) -> None:
        self.total: float = 0
        self.at = 0
        self.width = 0
        """Processors that the user has now, and has had since `at`."""
        self.spans: deque[tuple[int, int, int]] = deque()
        """With a window: from when until when the user had so many processors; a charge lasts for
        no time, and its processors are processor seconds."""


class Usage(StatePart):
    """Processor seconds per user.

    They come in charges, at once, or accrue while a user holds processors. With a `half_life`, all
    usage is halved at every multiple of it after `origin`, as batch systems do it; with a
    `window`, what was used or charged more than so many seconds ago is forgotten. Costs grow with
    the charges and not with the time.
    """

    def __init__(self, half_life: int | None = None, window: int | None = None) -> None:
        self.origin = 0
        self._half_life = half_life
        self._window = window
        self._accounts: dict[int, _Account] = {}

    def charge(self, user: int, amount: int, now: int) -> None:
        """Add processor seconds that a user has used."""
        account = self._updated(user, now)
        account.total += amount
        if self._window is not None:
            account.spans.append((now, now, amount))

    def hold(self, user: int, processors: int, now: int) -> None:
        """Let a user have so many processors more from now on, or fewer."""
        self._updated(user, now).width += processors

    def of(self, user: int, now: int) -> float:
        """Give what counts of a user's processor seconds at the time `now`; 0 for a new user."""
        account = self._accounts.get(user)
        if account is None:
            return 0
        if now > account.at:  # most are asked for many times at one time
            self._updated(user, now)
        if self._window is None or not account.spans:
            return account.total
        begin, _, width = account.spans[0]
        horizon = now - self._window
        over = width * self._faded(begin, horizon, now) if begin < horizon else 0
        return account.total - over

    def _updated(self, user: int, now: int) -> _Account:
        account = self._accounts.get(user)
        if account is None:
            account = self._accounts[user] = _Account()
            account.at = now
        elif now > account.at:
            account.total *= self._left(account.at, now)
            if account.width:
                account.total += account.width * self._faded(account.at, now, now)
                if self._window is not None:
                    _note(account.spans, account.at, now, account.width)
            account.at = now
            if self._window is not None:
                self._forget(account, now - self._window, now)
        return account

    def _forget(self, account: _Account, horizon: int, now: int) -> None:
        """Drop what is over; a span that is over in part stays as a whole."""
        spans = account.spans
        while spans and spans[0][1] <= horizon:
            begin, end, amount = spans.popleft()
            account.total -= amount * (
                self._left(begin, now) if begin == end else self._faded(begin, end, now)
            )
        if not spans:
            account.total = 0  # without what rounding has left

    def _left(self, then: int, now: int) -> float:
        """Give what is left now of a second that was used then."""
        return 1 if self._half_life is None else 0.5 ** (self._period(now) - self._period(then))

    def _faded(self, begin: int, end: int, now: int) -> float:
        """Give what is left now of the seconds from `begin` until `end`, which is not before it."""
        if self._half_life is None:
            return end - begin
        first, last = self._period(begin), self._period(end)
        if first == last:
            return (end - begin) * self._left(end, now)
        edges = self.origin + (first + 1) * self._half_life, self.origin + last * self._half_life
        between = self._half_life * (1 - 0.5 ** (last - first - 1))  # of whole half-lives
        return (edges[0] - begin) * self._left(begin, now) + (
            between + end - edges[1]
        ) * self._left(end, now)

    def _period(self, time: int) -> int:
        """Give how many half-lives have passed."""
        assert self._half_life is not None
        return (time - self.origin) // self._half_life


def _note(spans: deque[tuple[int, int, int]], begin: int, end: int, width: int) -> None:
    """Add a span, to the last one if the user had as many processors in that up to its begin."""
    if spans and spans[-1][0] < spans[-1][1] == begin and spans[-1][2] == width:
        begin = spans.pop()[0]
    spans.append((begin, end, width))


class QueueOrder(StatePart, ABC):
    """The order of the waiting jobs; made anew for every run.

    An order whose keys change gives a `refresh` in seconds: all waiting jobs get new keys at the
    multiples of it on the scheduler's clock.
    """

    refresh: int | None = None

    def __init__(self, settings: PolicySettings) -> None:
        self.settings = settings

    @abstractmethod
    def key(self, job: Job, now: int) -> Any:
        """Give what the job is sorted by, from the time `now` (seconds) on."""

    def begins(self, now: int) -> None:
        """Take note of when the scheduler's clock began; seconds, perhaps negative."""

    def started(self, job: Job, now: int) -> None:
        """Take note of a job that starts."""

    def finished(self, job: Job, now: int) -> None:
        """Take note of a job that has ended."""


class BySubmission(QueueOrder):
    """First come first."""

    def key(self, job: Job, now: int) -> int:
        """All alike."""
        return 0


class ShortestJob(QueueOrder):
    """The shortest estimate first."""

    def key(self, job: Job, now: int) -> int:
        """Give the estimate; seconds."""
        return job.estimate


class LongestJob(QueueOrder):
    """The longest estimate first."""

    def key(self, job: Job, now: int) -> int:
        """Give the estimate, negated."""
        return -job.estimate


class SmallestArea(QueueOrder):
    """The fewest processor seconds first, by the estimate."""

    def key(self, job: Job, now: int) -> int:
        """Give processors times estimate."""
        return job.area


class LargestArea(QueueOrder):
    """The most processor seconds first, by the estimate."""

    def key(self, job: Job, now: int) -> int:
        """Give processors times estimate, negated."""
        return -job.area


class QueuePriority(QueueOrder):
    """By the priority of the queue that a job was submitted to."""

    def key(self, job: Job, now: int) -> int:
        """Give the rank of its queue."""
        return self.settings.queue_priorities.get(job.queue, job.queue)


class Fairshare(QueueOrder):
    """The job of the user first who has used the machine least.

    Usage is in processor seconds, with the half-life and the window of the settings. It accrues
    while jobs run, or counts when they have ended (`PolicySettings.usage`). A job's key is as old
    as its submission or the last refresh, whichever is later.
    """

    def __init__(self, settings: PolicySettings) -> None:
        super().__init__(settings)
        self.refresh = settings.refresh
        self._usage = Usage(settings.half_life, settings.window)
        self._accrues = settings.usage == "running"

    def begins(self, now: int) -> None:
        """Count the half-lives from here."""
        self._usage.origin = now

    def key(self, job: Job, now: int) -> float:
        """Give the usage of the job's user."""
        return self._usage.of(job.user, now)

    def started(self, job: Job, now: int) -> None:
        """Let the user's usage grow from now on."""
        if self._accrues:
            self._usage.hold(job.user, job.processors, now)

    def finished(self, job: Job, now: int) -> None:
        """Let it grow no longer, or charge the whole job."""
        if self._accrues:
            self._usage.hold(job.user, -job.processors, now)
        else:
            self._usage.charge(job.user, job.processors * job.run, now)
