"""What makes two breaches the same one: the verdict, and which message server it is about."""

from __future__ import annotations

from typing import NamedTuple

from rebecsim.explore.outcome import Breach, Outcome, Verdict
from rebecsim.explore.transitions import State, TransitionSystem

__all__ = ["BreachKey", "key_of_state", "key_of_step"]


class BreachKey(NamedTuple):
    """A breach without what is of one run only, such as times and arguments.

    `rebec` and `server` are those of the message that misses its deadline, finds no place or fails
    an assertion; they are empty for what is wrong with a whole state. `text` is that of an
    assertion or property, empty otherwise.
    """

    verdict: Verdict
    rebec: str = ""
    server: str = ""
    text: str = ""

    @property
    def message(self) -> str:
        """The key without the verdict."""
        place = f"{self.rebec}.{self.server}" if self.rebec else ""
        return ": ".join(part for part in (place, self.text) if part)

    def __str__(self) -> str:
        return f"{self.verdict}: {self.message}" if self.message else str(self.verdict)


def key_of_state(breach: Breach) -> BreachKey:
    """Give the key of what is wrong with a state."""
    return BreachKey(breach.verdict, text="" if breach.verdict == "deadlock" else breach.text)


def key_of_step(
    system: TransitionSystem, state: State, cause: Outcome, breach: Breach
) -> BreachKey:
    """Give the key of what goes wrong in a step of a state."""
    runner = system.runner
    if breach.verdict == "queue overflow":
        receiver, server = _refused(system, state, cause)
        return BreachKey(breach.verdict, str(runner.rebecs[receiver]), server)
    rebec = str(runner.rebecs[cause.owner])
    server = runner.server_of(cause.owner, cause.message).name
    text = breach.text if breach.verdict == "assertion failed" else ""
    return BreachKey(breach.verdict, rebec, server, text)


def _refused(system: TransitionSystem, state: State, cause: Outcome) -> tuple[int, str]:
    """Give the rebec and message server of the first message that finds no place."""
    runner = system.runner
    parts = list(state)
    for sending in cause.sendings:
        after = runner.receive(parts[sending.receiver], sending)
        if after is None:
            return sending.receiver, runner.server_of(sending.receiver, sending.message).name
        parts[sending.receiver] = after
    return cause.owner, cause.effect.refused
