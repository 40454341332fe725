"""Give rebecs their turns and put into effect what they did, under one lock.

Whose turn it is in model time follows the rules of `rebecsim.actors.semantics`; `Turns` asks an
agenda and knows of neither threads nor real time.

The threads of rebecs run message servers at the same time. What one did takes effect when it has
ended, all at once: its messages are put into the bags and it is noted in the log. The order of the
log is therefore one in which the semantics could have served the messages one after the other;
`rebecsim.live.check` shows that it is.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rebecsim.actors import (
    Message,
    ModelCodeError,
    QueueOverflowError,
    Rebec,
    Stream,
    System,
    Violation,
    alternatives,
    next_time,
)
from rebecsim.actors.agenda import AllDue
from rebecsim.actors.rebec import LOWEST_PRIORITY
from rebecsim.actors.violations import raised
from rebecsim.live.log import Ending
from rebecsim.live.view import Outgoing, Record, View


class Turns:
    """Rebecs that are due at the same time serve at the same time.

    That is a run of the semantics, in the order in which they end: rebecs share nothing, whatever
    is sent arrives at the time of the others or later, so no rebec loses its turn. Without
    priorities, that is; see `SequentialTurns`.
    """

    def __init__(self, system: System, stream: Stream, priorities: bool = False) -> None:
        self.time = -1
        self._agenda = AllDue(system, priorities)
        self._stream = stream

    def is_due(self, rebec: Rebec) -> bool:
        """Look again at a rebec that is free and has messages: can it serve at this time?

        If not, it is noted for later.
        """
        if next_time(rebec) <= self.time:
            return True  # it may stay noted for a later message
        self._agenda.note(rebec)
        return False

    def upcoming(self) -> int | None:
        """Give the time to move on to, when no rebec is serving; None without any message."""
        time, rebecs = self._agenda.ready()
        return time if rebecs else None

    def move_to(self, time: int) -> list[Rebec]:
        """Move on to the next time and give the rebecs due at it, in random order."""
        self.time = time
        due = self._agenda.ready()[1]
        for rebec in due:
            self._agenda.withdraw(rebec)
        return self._shuffled(due)

    def _shuffled(self, rebecs: list[Rebec]) -> list[Rebec]:
        for place in range(len(rebecs) - 1, 0, -1):
            other = self._stream.below(place + 1)
            rebecs[place], rebecs[other] = rebecs[other], rebecs[place]
        return rebecs


class SequentialTurns(Turns):
    """One rebec serves at a time, for models with priorities.

    While a message server runs, another one could send a more urgent message, which should then
    have gone first.
    """

    def __init__(self, system: System, stream: Stream) -> None:
        super().__init__(system, stream, priorities=True)

    def is_due(self, rebec: Rebec) -> bool:
        """Give no turn, and note when the rebec is due: `move_to` finds the next one."""
        self._agenda.note(rebec)
        return False

    def move_to(self, time: int) -> list[Rebec]:
        """Move on to the next time and give one of the rebecs that may act, drawn at random."""
        self.time = time
        due = self._agenda.ready()[1]
        drawn = due[self._stream.below(len(due))]
        self._agenda.withdraw(drawn)
        return [drawn]


def has_priorities(system: System) -> bool:
    """Whether rebecs or message servers of a system have priorities that differ."""
    servers = {
        server.priority for rebec in system.rebecs for server in type(rebec).__servers__.values()
    }
    rebecs = {rebec._priority for rebec in system.rebecs}
    return system.uses_global_priority or len(rebecs) > 1 or not servers <= {LOWEST_PRIORITY}


MOST_AT_ONE_TIME = 100_000
"""The messages that are served at one time before a run is taken for one that goes no further."""

_YIELDS_ONE_IN = 16
"""One rebec in so many lets others go first, although it is due.

Else few orders would ever be seen: a short message server would always end before a long one.
"""

Tell = Callable[[Message], None]


@dataclass(frozen=True)
class LiveLimits:
    """How long a run goes on.

    `until` is the last model time that is served, `steps` the most messages. `speed` is in model
    time units per second of real time, 0 for virtual time.
    """

    until: int | None = None
    steps: int | None = None
    speed: float = 0.0


Serving = tuple[Rebec, Message, float]
"""A rebec that has been given a message to serve, and when (`time.monotonic`)."""

_Overflow = tuple[QueueOverflowError, int]
"""What went wrong, and which of the messages sent has found no place."""


class Conductor:
    """One live run, as all its threads see it.

    `tell` gives a rebec, by its position, a message to serve. `records` only grows; who reads it
    needs no lock. `paced`: model time passes with real time. `ended` is set when no message will
    be served any more; `ending` then says why.
    """

    def __init__(self, system: System, stream: Stream, limits: LiveLimits) -> None:
        self.records: list[Record] = []
        self.ended = threading.Event()
        self.ending: Ending | None = None
        self.error: Exception | None = None
        self.tell: list[Tell] = []
        self.paced = bool(limits.speed)
        self._lock = threading.Lock()
        self._alarm = threading.Condition(self._lock)
        self._opens: int | None = None
        self._stream = stream
        self._limits = limits
        self._granted = 0
        self._granted_before = 0  # when the time advanced last
        self._opened = 0
        self._timed = not system.model.core
        self._serving: dict[int, Serving] = {}
        self._waiting: dict[int, Rebec] = {}  # due, but not given their turns yet
        self._sequence = system.sequence
        self._origin = time.monotonic()
        self._finishing: Ending | None = None
        self._turns = (SequentialTurns if has_priorities(system) else Turns)(system, stream)

    # --- from the outside ----------------------------------------------------------------------

    def begin(self) -> None:
        """Start the time and give the first turns."""
        with self._lock:
            self._origin = time.monotonic()
            self._advance()

    def finish(self, ending: Ending) -> None:
        """Give no more turns; the run ends when those who serve now have ended."""
        with self._lock:
            self._finishing = ending
            if not self._serving:
                self._end(ending)

    def end(self, ending: Ending) -> None:
        """End the run now; what is still being served does not count."""
        with self._lock:
            self._end(ending)

    def serving(self) -> list[Serving]:
        """Give what is being served."""
        with self._lock:
            return list(self._serving.values())

    def if_serving(self, view: View, action: Callable[[], None]) -> None:
        """Do something if the rebec is in a message server, and while it cannot have left it."""
        with self._lock:
            if view.serving and view.owner._index in self._serving:
                action()

    def keep_time(self) -> None:
        """Let model time pass with real time until the run has ended, in a thread of its own."""
        with self._lock:
            while self.ending is None:
                if self._opens is None:
                    self._alarm.wait()
                    continue
                wait = self._due(self._opens) - time.monotonic()
                if wait > 0.0:
                    self._alarm.wait(wait)
                else:
                    opens, self._opens = self._opens, None
                    self._open(opens)

    # --- from the threads of rebecs ------------------------------------------------------------

    def late(self, rebec: Rebec, message: Message) -> float:
        """Give by how many seconds of real time a rebec is late with a message, if `paced`."""
        return max(time.monotonic() - self._due(max(rebec._now, message.arrival)), 0.0)

    def commit(
        self, view: View, message: Message, late: float, failure: Exception | None
    ) -> Message | None:
        """Let what a message server did take effect; it ended with this failure, if any.

        Gives the message that the rebec is to serve next, if it can go on at once.
        """
        rebec = view.owner
        with self._lock:
            if self.ending is not None:
                self._serving.pop(rebec._index, None)
                return None
            if failure is not None and not isinstance(failure, Violation):
                self.error = _raised_by_model(failure)
                self._end(Ending("failed", raised(failure), str(rebec), str(message)))
            else:
                overflow = self._deliver(view)
                self._note(view, message, late, overflow)
                violation = failure if overflow is None else overflow[0]
                if violation is not None:
                    self._end(Ending(violation.verdict, str(violation)))
            del self._serving[rebec._index]
            return self._turns_after(rebec, view.kept) if self.ending is None else None

    def _deliver(self, view: View) -> _Overflow | None:
        """Put what a message server has sent into the bags, up to a message without a place.

        A message that is being served still takes its place.
        """
        serving = self._serving
        for place, (receiver, kept, *_) in enumerate(view.kept):
            self._sequence = sequence = self._sequence + 1
            message = (kept[0], kept[1], sequence, kept[3], kept[4], kept[5], kept[6])
            try:
                receiver._bag.put(message, receiver._index in serving)
            except QueueOverflowError as error:
                return error, place
        return None

    def _note(self, view: View, message: Message, late: float, overflow: _Overflow | None) -> None:
        """Note a message served in the log; one that overflows a bag has ended there."""
        rebec = view.owner
        finished, choices, sent = rebec._now, view.choices, view.kept
        before = view.before
        view.before = after = view.read(rebec)
        if overflow is not None:
            _, place = overflow
            _, _, finished, drawn, after = sent[place]
            choices, sent = choices[:drawn], sent[:place]
        start = max(view.free, message.arrival)
        self.records.append((rebec, message, start, finished, choices, before, after, sent, late))

    # --- turns, under the lock -----------------------------------------------------------------

    def _turns_after(self, rebec: Rebec, sent: Sequence[Outgoing]) -> Message | None:
        """Give the turns that the end of a message server has made possible.

        Gives the message that the rebec itself may serve next, if any.
        """
        serving, waiting, turns = self._serving, self._waiting, self._turns
        following = None
        if self._finishing is None:
            for outgoing in sent:
                other = outgoing[0]
                index = other._index
                if index not in serving and index not in waiting and turns.is_due(other):
                    waiting[index] = other
            if rebec._bag.messages and rebec._index not in waiting and turns.is_due(rebec):
                waiting[rebec._index] = rebec
            if waiting:
                following = self._draw_turns(rebec)
        if not serving:
            self._advance()
        return following

    def _draw_turns(self, current: Rebec | None) -> Message | None:
        """Give turns to rebecs that are due, though not always to all of them.

        Gives the message for the current rebec, which needs not be told by its mailbox.
        """
        waiting, below = self._waiting, self._stream.below
        chosen = [rebec for rebec in waiting.values() if below(_YIELDS_ONE_IN)]
        if not (chosen or self._serving):
            chosen = [list(waiting.values())[below(len(waiting))]]
        following = None
        for rebec in chosen:
            message = self._turn(rebec)
            if message is None:
                break
            del waiting[rebec._index]
            if rebec is current:
                following = message
            else:
                self.tell[rebec._index](message)
        return following

    def _turn(self, rebec: Rebec) -> Message | None:
        """Take the message that a rebec serves next out of its bag; None at a limit."""
        if self._granted == self._limits.steps or self._stands_still():
            return None
        self._granted += 1
        choice = alternatives(rebec)
        message = choice[0] if len(choice) == 1 else choice[self._stream.below(len(choice))]
        rebec._bag.messages.remove(message)
        self._serving[rebec._index] = rebec, message, time.monotonic()
        return message

    def _stands_still(self) -> bool:
        """Whether very many messages have been served at the time that it is."""
        return self._timed and self._granted - self._granted_before >= MOST_AT_ONE_TIME

    def _advance(self) -> None:
        """Go to the next model time, at once or when it has come."""
        if self._finishing is not None:
            self._end(self._finishing)
            return
        if self._granted == self._limits.steps:
            self._end(Ending("step limit"))
            return
        if self._stands_still():
            detail = f"{MOST_AT_ONE_TIME:,} messages were served at time {self._opened}"
            self._end(Ending("time stands still", detail))
            return
        opens = self._turns.upcoming()
        if opens is None:
            self._end(Ending("ended"))
        elif self._limits.until is not None and opens > self._limits.until:
            self._end(Ending("time limit"))
        elif self.paced and time.monotonic() < self._due(opens):
            self._opens = opens
            self._alarm.notify()
        else:
            self._open(opens)

    def _open(self, opens: int) -> None:
        if opens != self._opened:
            self._opened, self._granted_before = opens, self._granted
        self._waiting = {rebec._index: rebec for rebec in self._turns.move_to(opens)}
        self._draw_turns(None)

    def _due(self, model_time: int) -> float:
        return self._origin + model_time / self._limits.speed

    def _end(self, ending: Ending) -> None:
        if self.ending is None:
            self.ending = ending
            self.ended.set()
            self._alarm.notify_all()


def _raised_by_model(failure: Exception) -> Exception:
    """Give what the code of a model raised, as it was before the semantics reported it."""
    cause = failure.__cause__
    return (
        cause if isinstance(failure, ModelCodeError) and isinstance(cause, Exception) else failure
    )
