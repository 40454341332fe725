"""The share of a machine that each user may expect."""

from __future__ import annotations

from collections.abc import Mapping

from rebecsim.errors import UserError
from rebecsim.workloads.job import Workload
from rebecsim.workloads.logs import numbers_of


def shares_of(
    workload: Workload, share: int | None, by_user: Mapping[str, int]
) -> int | dict[int, int]:
    """Give the share of all users, or the shares by user, in processors.

    `by_user` has the shares of users, by name or by number; all others have `share`. Raises
    UserError for jobs of unknown users, for a name or number that no user of a job has, and for a
    user who has no share.
    """
    if (workload.user < 0).any():
        raise UserError(
            "the users of some jobs are unknown, so that users cannot be given a share; remove "
            "the share, or choose users"
        )
    if share is not None and not by_user:
        return share
    users = set(workload.user.tolist())
    given = dict(zip(numbers_of(workload, "user", by_user), by_user.values(), strict=True))
    if strange := sorted(given.keys() - users):
        raise UserError(f"user {strange[0]} has a share and no job; remove the share")
    if share is not None:
        return dict.fromkeys(users, share) | given
    if left := sorted(users - given.keys()):
        raise UserError(
            f"user {left[0]} has no share; give one for all users who are not named, or leave out "
            "the user"
        )
    return given
