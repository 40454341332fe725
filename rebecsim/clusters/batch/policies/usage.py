"""Decayed usage of users: processor time, which counts half after each half-life."""

from __future__ import annotations

from collections import deque


class _Account:
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


class Usage:
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
