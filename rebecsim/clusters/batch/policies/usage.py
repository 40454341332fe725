"""What users have used of a machine, with a memory that fades."""

from __future__ import annotations

from collections import deque


class _Account:
    """The usage of one user as of the last time that somebody looked."""

    __slots__ = ("charges", "halvings", "total")

    def __init__(self) -> None:
        self.total: float = 0
        self.halvings = 0
        self.charges: deque[tuple[int, int, int]] = deque()  # time, processor seconds, halvings


class Usage:
    """Processor seconds per user.

    With a `half_life`, all usage is halved at every multiple of it after `origin`, as batch
    systems do it; with a `window`, a charge is forgotten so many seconds after it was made. Costs
    grow with the charges and not with the time.
    """

    def __init__(self, half_life: int | None = None, window: int | None = None) -> None:
        self.origin = 0
        self._half_life = half_life
        self._window = window
        self._accounts: dict[int, _Account] = {}

    def charge(self, user: int, amount: int, now: int) -> None:
        """Add processor seconds that a user has used."""
        account = self._accounts.setdefault(user, _Account())
        self._update(account, now)
        account.total += amount
        if self._window is not None:
            account.charges.append((now, amount, account.halvings))

    def of(self, user: int, now: int) -> float:
        """Give what counts of a user's processor seconds at the time `now`; 0 for a new user."""
        account = self._accounts.get(user)
        if account is None:
            return 0
        self._update(account, now)
        return account.total

    def _update(self, account: _Account, now: int) -> None:
        if self._half_life is not None:
            halvings = (now - self.origin) // self._half_life
            if halvings > account.halvings:
                account.total *= 0.5 ** (halvings - account.halvings)
                account.halvings = halvings
        if self._window is not None:
            self._forget(account, now - self._window)

    @staticmethod
    def _forget(account: _Account, horizon: int) -> None:
        charges = account.charges
        while charges and charges[0][0] <= horizon:
            _, amount, halvings = charges.popleft()
            account.total -= amount * 0.5 ** (account.halvings - halvings)
        if not charges:
            account.total = 0  # without what rounding has left
