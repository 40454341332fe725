"""Associations as a tree with numbers, and the quality of service that a job runs under."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebecsim.actors import Constant
from rebecsim.clusters.slurm.configuration import Accounting, Association, Qos
from rebecsim.clusters.slurm.machine import Integers


class Shape(NamedTuple):
    """The tree of those that share, without accounts of Fairshare=parent.

    Attributes:
        levels: numbers by depth in it, without root.
        users: numbers of the users.
        is_account: whether each is an account, shape (associations,).
        users_in: how many users are at or under each, shape (associations,).
    """

    levels: tuple[Integers, ...]
    users: Integers
    is_account: NDArray[np.bool_]
    users_in: Integers


class Accounts(Constant):
    """The associations and QOS of a cluster; arrays have shape (associations,).

    Attributes:
        associations: parents before their children; number 0 is root.
        parent: number of the parent of each; -1 for root.
        paths: of each, its own number and those above it, root last.
        children: the numbers under each.
        levels: numbers by depth, root's first.
        sharing: with whose other members each one shares, by number; -1 for root.
        shape: the tree of those that share.
        shares: the share of each among these, 0 to 1; NaN for a user with Fairshare=parent.
        users: how many associations are of users.
        qos: by name.
        enforces: what AccountingStorageEnforce names.
    """

    def __init__(self, accounting: Accounting) -> None:
        given = accounting.associations
        if given and (given[0].account != "root" or given[0].user):
            given = (Association(account="root"), *given)
        self.associations = given
        by_account = {each.account: n for n, each in enumerate(given) if not each.user}
        above = [self._above(each, by_account) for each in given]
        self.parent: Integers = np.array(above, np.int64)
        self.paths: list[tuple[int, ...]] = []
        self.children: list[list[int]] = [[] for _ in given]
        for number, parent in enumerate(above):
            self.paths.append((number, *(self.paths[parent] if parent >= 0 else ())))
            if parent >= 0:
                self.children[parent].append(number)
        depth = [len(each) for each in self.paths]
        self.levels = [
            np.array([n for n, each in enumerate(depth) if each == level], np.int64)
            for level in range(1, max(depth, default=0) + 1)
        ]
        self.users = sum(bool(each.user) for each in given)
        self.qos = {each.name: each for each in accounting.qos}
        self.qos_number = {each.name: number for number, each in enumerate(accounting.qos)}
        self.enforces = accounting.enforce
        self.sharing = self._sharing()
        self.shares = self._shares()
        self.shape = self._shape()
        self._found = {(a.user, a.account, a.partition): n for n, a in enumerate(given) if a.user}
        self._default: dict[str, int] = {}
        for number, each in enumerate(given):
            if each.user and not each.partition:
                self._default.setdefault(each.user, number)

    def _sharing(self) -> Integers:
        """Give with whose members each one shares: its parent, or one above that is no `parent`."""
        found = self.parent.copy()
        for number, each in enumerate(found.tolist()):
            above = each
            while above > 0 and self.associations[above].shares is None:
                above = int(self.parent[above])
            found[number] = above
        return found

    def _shares(self) -> NDArray[np.float64]:
        """Give the share of each among those that it shares with; NaN for `parent`."""
        given = np.array(
            [np.nan if each.shares is None else each.shares for each in self.associations], float
        )
        among = np.where(self.sharing < 0, len(given), self.sharing)
        total = np.bincount(among, weights=np.nan_to_num(given), minlength=len(given) + 1)[among]
        found: NDArray[np.float64] = np.where(np.isnan(given), np.nan, 0.0)
        np.divide(given, total, out=found, where=total > 0)
        return found

    def _shape(self) -> Shape:
        depth = [0] * len(self.associations)
        users_in = np.zeros(len(depth), np.int64)
        for number, each in enumerate(self.associations):
            above = int(self.sharing[number])
            if above >= 0:
                depth[number] = depth[above] + 1
            one = number if each.user else -1
            while one >= 0:
                users_in[one] += 1
                one = int(self.sharing[one])
        passed = [each.shares is None and not each.user for each in self.associations]
        levels = tuple(
            np.array([n for n, each in enumerate(depth) if each == level and not passed[n]])
            for level in range(1, max(depth, default=0) + 1)
        )
        users = np.array([n for n, each in enumerate(self.associations) if each.user], np.int64)
        accounts = np.array([not each.user for each in self.associations])
        return Shape(levels, users, accounts, users_in)

    @staticmethod
    def _above(each: Association, by_account: dict[str, int]) -> int:
        if each.user:
            return by_account.get(each.account, 0)
        return -1 if each.account == "root" else by_account.get(each.parent or "root", 0)

    def find(self, user: str, account: str, partition: str) -> int:
        """Give the association of a job; -1: there is none."""
        if not account:
            return self._default.get(user, -1)
        found = self._found.get((user, account, partition), -1)
        return found if found >= 0 else self._found.get((user, account, ""), -1)

    def qos_of(self, association: int, name: str) -> Qos | None:
        """Give the QOS of a job that names one, or names none; None: it may not use that."""
        allowed = self.associations[association].qos if association >= 0 else ()
        if not name:
            default = self.associations[association].default_qos if association >= 0 else ""
            name = default or ("normal" if "normal" in allowed or not allowed else allowed[0])
        found = self.qos.get(name)
        if found is not None and allowed and name not in allowed and "qos" in self.enforces:
            return None
        return found
