"""Identify breaches: the same verdict about the same message server is the same breach."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rebecsim.exploration.states.outcome import Breach, Effect, Outcome, Verdict

if TYPE_CHECKING:
    from rebecsim.exploration.states.local import Waiting
    from rebecsim.exploration.states.runner import Runner
    from rebecsim.exploration.states.transitions import State, TransitionSystem


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
    parts = list(state)
    if breach.verdict == "queue overflow":
        for sending in cause.effect.sendings:
            after = system.runner.receive(parts[sending.receiver], sending)
            if after is None:
                return key_of_refused(system.runner, sending.receiver, sending.message)
            parts[sending.receiver] = after
    return key_of_effect(system.runner, cause.effect)


def key_of_refused(runner: Runner, receiver: int, message: Waiting) -> BreachKey:
    """Give the key of a message from another rebec that finds no place."""
    server = runner.server_of(receiver, message).name
    return BreachKey("queue overflow", str(runner.rebecs[receiver]), server)


def key_of_effect(runner: Runner, effect: Effect) -> BreachKey:
    """Give the key of what a message server does that is forbidden."""
    assert effect.breach is not None
    verdict, text = effect.breach
    rebec = str(runner.rebecs[effect.owner])
    if verdict == "queue overflow":
        return BreachKey(verdict, rebec, effect.refused)
    server = runner.server_of(effect.owner, effect.message).name
    return BreachKey(verdict, rebec, server, text if verdict == "assertion failed" else "")
