"""The factor of fair share of each association: Fair Tree, the classic one, depth-oblivious."""

from __future__ import annotations

from math import log

import numpy as np

from rebecsim.clusters.slurm.accounts import Accounts
from rebecsim.clusters.slurm.configuration import PriorityParameters
from rebecsim.clusters.slurm.usage import Reals


def factors(accounts: Accounts, usage: Reals, parameters: PriorityParameters) -> Reals:
    """Give the factors, 0 to 1, from billing seconds; both of shape (associations,)."""
    if not parameters.flags & {"NO_FAIR_TREE", "DEPTH_OBLIVIOUS"}:
        return fair_tree(accounts, usage)
    return classic(accounts, usage, parameters)


def level_fs(accounts: Accounts, usage: Reals) -> Reals:
    """Give Level FS of each association, as `sshare` shows it; shape (associations,)."""
    above = usage[accounts.sharing]
    above[0] = usage[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.where(above > 0, usage / above, 0.0)
        found = np.where(part > 0, accounts.shares / part, np.inf)
    found[accounts.shares == 0] = 0.0
    found[np.isnan(accounts.shares)] = np.inf
    return found


def fair_tree(accounts: Accounts, usage: Reals) -> Reals:
    """Give the factors of Fair Tree: users by rank, siblings compared with each other only.

    The tree is walked from the best child of root to the worst one. As 22.05 does it, children of
    accounts that tie are not merged; a user that ties with the one before has its rank.
    """
    count = len(accounts.associations)
    found = np.zeros(count)
    if not accounts.users:
        return found
    level = level_fs(accounts, usage)
    shape = accounts.shape
    place = np.zeros(count, np.int64)  # how many users come before
    tied = np.zeros(count, bool)
    for members in shape.levels:
        group = accounts.sharing[members]
        order = np.lexsort((members, shape.is_account[members], -level[members], group))
        members, group = members[order], group[order]
        first = np.empty(len(members), bool)
        first[0] = True
        np.not_equal(group[1:], group[:-1], out=first[1:])
        before = np.cumsum(shape.users_in[members]) - shape.users_in[members]
        begins = np.maximum.accumulate(np.where(first, np.arange(len(members)), 0))
        place[members] = place[group] + before - before[begins]
        same = np.empty(len(members), bool)
        same[0] = False
        np.equal(level[members][1:], level[members][:-1], out=same[1:])
        tied[members] = np.where(first, tied[group], same)
    users = shape.users[np.argsort(place[shape.users])]
    own = np.where(tied[users], -1, np.arange(len(users)))
    own[0] = 0
    found[users] = (len(users) - np.maximum.accumulate(own)) / len(users)
    return found


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
    return float(np.exp2(-effective / shares / parameters.dampening))


def _oblivious(above: float, above_shares: float, used: float, shares: float, all_: float) -> float:
    """Give the effective usage of DEPTH_OBLIVIOUS; `all_` is what all siblings have used."""
    if not (shares and above_shares and all_ and used and above):
        return 0.0
    ratio = above / above_shares
    own = (used / shares) / (all_ / above_shares)
    exponent = 1.0
    if log(ratio) * log(own) < 0:
        exponent = 1 / (1 + (5 * log(ratio)) ** 2)
    return float(ratio * own**exponent * shares)
