"""Check a live run against the semantics, message by message."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rebecsim.actors import (
    Choice,
    Message,
    Model,
    PlainMessage,
    Rebec,
    Run,
    Step,
    System,
    Violation,
    enabled,
    execute,
    ready,
)
from rebecsim.actors.values import plain
from rebecsim.actors.violations import raised
from rebecsim.distributions import MOST, Distribution
from rebecsim.errors import UserError
from rebecsim.live.log import Ending, Log, Sent, Served
from rebecsim.simulation import Event, Tracer
from rebecsim.simulation.simulator import SHORT_RUNS


class NotAllowedError(UserError):
    """A run that the semantics does not have; the text names the message and what differs."""


@dataclass(frozen=True)
class Checked:
    """A run that the semantics has: the rebecs at its end, and its choices.

    `system` is None if a constructor failed already.
    """

    system: System | None
    run: Run


class Checker:
    """Serves the messages of a log on rebecs of its own, as far as they are enabled there.

    Raises Violation if a constructor of the model does.
    """

    def __init__(self, model: Model) -> None:
        self._choices: list[Choice] = []
        self._left: list[int] = []  # what the log has drawn and the message server has not
        self._sent: list[Sent] = []
        self._place = 0
        self._violation: Violation | None = None
        self._tracer = Tracer()
        self._system = System(model, self._tracer.choosing(self._choose))
        self._system.put = self._put
        self._rebecs = {str(rebec): rebec for rebec in self._system.rebecs}

    def take(self, entry: Served) -> None:
        """Serve the next message of a log. Raises NotAllowedError if it is not to be served now."""
        self._place += 1
        if self._violation is not None:
            raise self._refused(entry, f"the run has ended with {_shown(self._violation)}")
        system, event = self._system, entry.event
        steps = enabled(system)
        rebec = self._rebecs.get(event.rebec)
        place = next(
            (
                n
                for n, (owner, message) in enumerate(steps)
                if owner is rebec and _is(message, event)
            ),
            None,
        )
        if place is None:
            there = "; ".join(map(_described, steps)) or "no message"
            raise self._refused(entry, f"it is not enabled; the enabled messages are: {there}")
        step = steps[place]
        self._choices.append(Choice("step", place, len(steps)))
        self._left = list(event.choices)
        self._sent.clear()
        self._tracer.before(step)
        try:
            execute(system, step)
        except Violation as violation:
            self._violation = violation
        except NotAllowedError:
            raise
        except Exception as error:  # whatever a model in Python raises
            raise self._refused(entry, f"it raises {raised(error)}") from error
        self._tracer.after(step)
        found = self._tracer.events.pop()
        self._same(entry, "time", event.time, found.time)
        self._same(entry, "finished", event.finished, found.finished)
        self._same(entry, "choices", event.choices, found.choices)
        self._same(entry, "drawn", event.drawn, tuple(map(plain, found.drawn)))
        changed = {name: plain(value) for name, value in found.changed.items()}
        self._same(entry, "changed", event.changed, changed)
        self._same(entry, "sent", entry.sent, tuple(self._sent))

    def end(self, ending: Ending, until: int | None, steps: int | None) -> Checked:
        """Check that a run with these limits ends here, and so. Raises NotAllowedError."""
        problem = self._wrong_with(ending, until, steps)
        if problem:
            raise NotAllowedError(
                f"the run ends after {self._place} messages with {ending.outcome}, but {problem}"
            )
        return Checked(self._system, Run(tuple(self._choices)))

    # --- what is wrong -------------------------------------------------------------------------

    def _wrong_with(self, ending: Ending, until: int | None, steps: int | None) -> str:
        violation = self._violation
        if violation is not None:
            if (ending.outcome, ending.detail) == (violation.verdict, str(violation)):
                return ""
            return f"the semantics has {_shown(violation)}"
        time, rebecs = ready(self._system)
        match ending.outcome:
            case "deadline missed" | "queue overflow" | "assertion failed":
                return f"the semantics has no violation ({ending.detail})"
            case "ended" if rebecs:
                return f"there are messages: {'; '.join(map(_described, enabled(self._system)))}"
            case "time limit" if not rebecs or until is None or time <= until:
                return f"a message can be served at time {time}" if rebecs else "no message is left"
            case "step limit" if steps is None or self._place != steps:
                return f"the limit is {steps}"
            case "failed" | "not answering" if not any(
                (str(step.rebec), str(step.message)) == (ending.rebec, ending.server)
                for step in enabled(self._system)
            ):
                return f"{ending.rebec} may not serve {ending.server}"
        return ""

    def _same(self, entry: Served, what: str, logged: object, found: object) -> None:
        if logged != found:
            raise self._refused(entry, f"`{what}` is {logged!r} in the log, {found!r} by the model")

    def _refused(self, entry: Served, why: str) -> NotAllowedError:
        event = entry.event
        arguments = ", ".join(map(str, event.arguments))
        return NotAllowedError(
            f"message {self._place}, at time {event.time}, {event.sender} -> "
            f"{event.rebec}: {event.server}({arguments}): {why}"
        )

    def _choose(self, rebec: Rebec, alternatives: Sequence[Any], site: int) -> int:
        count = len(alternatives)
        if isinstance(alternatives, Distribution):  # any value of it, not only those of a search
            count += MOST + 1
        if not self._left or self._left[0] >= count:
            drawn = self._left[:1] or "nothing"
            raise NotAllowedError(
                f"message {self._place}: {rebec} chooses one of {count}; the log has {drawn}"
            )
        index = self._left.pop(0)
        self._choices.append(Choice("value", index, count))
        return index

    def _put(self, receiver: Rebec, message: PlainMessage, at_work: bool) -> None:
        """Put a message into a bag, and note it if there is a place."""
        receiver._bag.put(message, at_work)
        self._sent.append(Sent.of(receiver, Message(*message)))


def _is(message: Message, event: Event) -> bool:
    """Whether a message is the one that was served; equal messages are interchangeable."""
    return (
        message.server.name == event.server
        and message.arrival == event.arrival
        and message.deadline == event.deadline
        and message.sent_by == event.sender
        and tuple(map(plain, message.arguments)) == event.arguments
    )


def _described(step: Step) -> str:
    return f"{step.message.sent_by} -> {step.rebec}: {step.message}"


def _shown(violation: Violation) -> str:
    return f"{violation.verdict} ({violation})"


def check_log(model: Model, log: Log) -> Checked:
    """Serve a whole live run again. Raises NotAllowedError for one that the model does not have."""
    if (model.name, model.core) != (log.model, log.core):
        kind = "core" if log.core else "timed"
        raise NotAllowedError(f"the run is one of the {kind} model {log.model}, not {model.name}")
    try:
        checker = Checker(model)
    except Violation as violation:
        ending = Ending(violation.verdict, f"{violation}, in a constructor")
        if log.ending == ending and not log.served:
            return Checked(None, Run(()))
        raise NotAllowedError(f"a constructor ends with {_shown(violation)}") from violation
    for length in SHORT_RUNS:
        beginning = Checker(model)
        for entry in log.served[:length]:
            beginning.take(entry)
    return checked(checker, log.served, log)


def checked(checker: Checker, entries: Iterable[Served], log: Log) -> Checked:
    """Let a checker take the rest of a log and judge its end. Raises NotAllowedError."""
    for entry in entries:
        checker.take(entry)
    return checker.end(log.ending, log.until, log.max_steps)
