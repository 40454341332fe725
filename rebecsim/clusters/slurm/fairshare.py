"""The factor of fair share of each association: Fair Tree, the classic one, depth-oblivious."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, log

import numpy as np

from rebecsim.clusters.slurm.accounts import Accounts
from rebecsim.clusters.slurm.configuration import PriorityParameters
from rebecsim.clusters.slurm.usage import Reals


def factors(accounts: Accounts, usage: Reals, parameters: PriorityParameters) -> Reals:
    """Give the factors, 0 to 1, from billing seconds; both of shape (associations,)."""
    if not parameters.flags & {"NO_FAIR_TREE", "DEPTH_OBLIVIOUS"}:
        return fair_tree(accounts, usage)
    return classic(accounts, usage, parameters)


def _members(accounts: Accounts, number: int) -> Iterator[int]:
    """Give who shares what an account has: its children, and those of children of `parent`."""
    for child in accounts.children[number]:
        each = accounts.associations[child]
        if each.shares is None and not each.user:
            yield from _members(accounts, child)
        else:
            yield child


def fair_tree(accounts: Accounts, usage: Reals) -> Reals:
    """Give the factors of Fair Tree: users by rank, siblings compared with each other only.

    As 22.05 does it, children of accounts that tie are not merged.
    """
    found = np.zeros(len(accounts.associations))
    if not accounts.users:
        return found
    users, used = accounts.users, usage.tolist()
    associations = accounts.associations
    rank = following = users

    def visit(number: int, tied: bool) -> None:
        nonlocal rank, following
        members = list(_members(accounts, number))
        total = sum(associations[each].shares or 0 for each in members)
        above = used[number]
        levels = []
        for place, each in enumerate(members):
            one = associations[each]
            levels.append((-_level_fs(one.shares, total, used[each], above), not one.user, place))
        levels.sort()
        before = None
        for level, is_account, place in levels:
            tied = tied if before is None else level == before
            before = level
            if is_account:
                visit(members[place], tied)
                continue
            if not tied:
                rank = following
            found[members[place]] = rank / users
            following -= 1

    visit(0, False)
    return found


def level_fs(accounts: Accounts, usage: Reals) -> Reals:
    """Give Level FS of each association, as `sshare` shows it; shape (associations,)."""
    found = np.full(len(accounts.associations), inf)
    for number in range(len(accounts.associations)):
        members = list(_members(accounts, number))
        total = sum(accounts.associations[each].shares or 0 for each in members)
        for each in members:
            shares = accounts.associations[each].shares
            found[each] = _level_fs(shares, total, float(usage[each]), float(usage[number]))
    return found


def _level_fs(shares: int | None, total: int, used: float, above: float) -> float:
    if shares is None:
        return inf
    share = shares / total if total else 0.0
    if not share:
        return 0.0
    part = used / above if above else 0.0
    return share / part if part else inf


def classic(accounts: Accounts, usage: Reals, parameters: PriorityParameters) -> Reals:
    """Give 2^-(effective usage / shares / dampening), or its depth-oblivious variant."""
    count = len(accounts.associations)
    shares, normal, effective = np.ones(count), np.zeros(count), np.zeros(count)
    whole = float(usage[0])
    found = np.zeros(count)
    oblivious = "DEPTH_OBLIVIOUS" in parameters.flags
    if whole:
        normal[0] = effective[0] = 1.0
    for number in range(1, count):
        each = accounts.associations[number]
        parent = int(accounts.parent[number])
        if each.shares is None:
            shares[number], normal[number] = shares[parent], normal[parent]
            effective[number], found[number] = effective[parent], found[parent]
            if not found[number]:
                found[number] = _curve(effective[number], shares[number], parameters)
            continue
        siblings = accounts.children[parent]
        total = sum(accounts.associations[one].shares or 0 for one in siblings)
        share = each.shares / total if total else 0.0
        shares[number] = shares[parent] * share
        normal[number] = min(float(usage[number]) / whole, 1.0) if whole else 0.0
        if oblivious:
            together = sum(
                min(float(usage[one]) / whole, 1.0) if whole else 0.0 for one in siblings
            )
            effective[number] = _oblivious(
                effective[parent], shares[parent], normal[number], shares[number], together
            )
        elif parent == 0:
            effective[number] = normal[number]
        else:
            effective[number] = normal[number] + (effective[parent] - normal[number]) * share
        found[number] = _curve(effective[number], shares[number], parameters)
    return found


def _curve(effective: float, shares: float, parameters: PriorityParameters) -> float:
    if shares <= 0:
        return 0.0
    used: float = effective / shares / parameters.dampening
    return float(np.exp2(-used))


def _oblivious(above: float, above_shares: float, used: float, shares: float, all_: float) -> float:
    """Give the effective usage of DEPTH_OBLIVIOUS; `all_` is what all siblings have used."""
    if not (shares and above_shares and all_ and used and above):
        return 0.0
    ratio = above / above_shares
    own = (used / shares) / (all_ / above_shares)
    exponent = 1.0
    if log(ratio) * log(own) < 0:
        exponent = 1 / (1 + (5 * log(ratio)) ** 2)
    return ratio * own**exponent * shares
