"""Find the step of a path that sent a message."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rebecsim.exploration.states.local import Waiting
from rebecsim.exploration.states.transitions import State, TransitionSystem

_Key = tuple[Any, ...]


class Origins:
    """Follows the messages of a path from their sending to their serving.

    Equal messages in one bag cannot be told apart; the one sent first counts as served first.
    """

    def __init__(self, system: TransitionSystem) -> None:
        self._rebecs = len(system.runner.rebecs)
        self._sent: dict[_Key, list[int | None]] = {}
        self.reached(system.initial, system.start_time, None)

    def of(self, owner: int, message: Waiting, time: int) -> int | None:
        """Give the step that sent a message to this rebec; None if a constructor did."""
        found = self._sent.get(_key(owner, message, time))
        return found[0] if found else None

    def reached(self, state: State, time: int, step: int | None) -> None:
        """Note what a step has put into the bags, and forget what it has taken out."""
        present = Counter(
            _key(local.owner, message, time)
            for local in state[: self._rebecs]
            for message in local.bag
        )
        for key in self._sent.keys() - present.keys():
            del self._sent[key]
        for key, count in present.items():
            sent = self._sent.setdefault(key, [])
            del sent[: max(len(sent) - count, 0)]
            sent += [step] * (count - len(sent))


def _key(owner: int, message: Waiting, time: int) -> _Key:
    return (
        owner,
        message.arrival + time,
        message.number,
        message.sender,
        message.deadline + time,
        message.order,
        message.arguments,
    )
