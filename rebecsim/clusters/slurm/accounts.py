"""Associations as a tree with numbers, and the quality of service that a job runs under."""

from __future__ import annotations

import numpy as np

from rebecsim.actors import Constant
from rebecsim.clusters.slurm.configuration import Accounting, Association, Qos
from rebecsim.clusters.slurm.machine import Integers


class Accounts(Constant):
    """The associations and QOS of a cluster; arrays have shape (associations,).

    Attributes:
        associations: parents before their children; number 0 is root.
        parent: number of the parent of each; -1 for root.
        paths: of each, its own number and those above it, root last.
        children: the numbers under each.
        levels: numbers by depth, root's first.
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
        self._found = {(a.user, a.account, a.partition): n for n, a in enumerate(given) if a.user}
        self._default: dict[str, int] = {}
        for number, each in enumerate(given):
            if each.user and not each.partition:
                self._default.setdefault(each.user, number)

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
