"""The transition systems of a model: its states, and the successors of each.

* core: no time; queues
* floating time (FTTS): one transition serves one message to the end of its message server; clocks
  of rebecs run ahead of each other
* timed (TTS): all rebecs share the time; a delay ends a transition, and time passes in transitions
  of its own

The theory: Khamespanah, Sirjani, Sabahi-Kaviani, Khosravi, Izadi, "Timed Rebeca schedulability and
deadlock freedom analysis using bounded floating time transition system", Science of Computer
Programming 98 (2015). Shift equivalence is exact here: all times of all rebecs are compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sized
from typing import TYPE_CHECKING, Any, Literal, get_args

from rebecsim.actors import Model
from rebecsim.actors.semantics import most_urgent
from rebecsim.errors import UserError
from rebecsim.exploration.analysis.footprints import (
    delays,
    reads_absolute_time,
    reads_message_times,
    reads_waiting_time,
)
from rebecsim.exploration.states.effects import Breach, Outcome, Sending
from rebecsim.exploration.states.memoized_runner import MemoizedRunner, Repeats
from rebecsim.exploration.states.rebec_states import NEVER, Local, LocalStore
from rebecsim.exploration.states.runner import Rules
from rebecsim.generate.cells import class_cells, element_type
from rebecsim.lang.checked import REAL, TIMER, CheckedModel

if TYPE_CHECKING:
    from rebecsim.exploration.reduction import PartialOrder

Mode = Literal["core", "FTTS", "TTS"]
MODES: tuple[Mode, ...] = get_args(Mode)

State = tuple[Any, ...]
"""The `Local` of every rebec, in the order of main; then the time, where it is kept."""


class TimePasses:
    """The cause of a transition that only moves time."""

    __slots__ = ()


TIME = TimePasses()
Cause = Outcome | TimePasses
Successor = tuple[Cause, State | Breach, int]
"""A transition: its cause, the state or breach it leads to, and how many time units that takes."""


class TransitionSystem:
    """The states of a model and the transitions between them.

    `mode` None is FTTS for a timed model, core for a core one. States are compared modulo a shift
    of time unless the model reads absolute time or `absolute` asks for times to be kept.
    `abstracted` names, for each rebec, Python attributes that are left out of identity. The checks
    of deadlines and queue bounds can be switched off. `repeats` says which message servers are run
    again, to see whether they are functions of the state. `checked` is its tree, if it has one:
    it tells what may be read.

    Raises Violation if a constructor does, UserError if the model has no such transition system.
    """

    def __init__(
        self,
        model: Model,
        mode: Mode | None = None,
        *,
        absolute: bool = False,
        deadlines: bool = True,
        overflows: bool = True,
        abstracted: tuple[frozenset[str], ...] | None = None,
        repeats: Repeats = "never",
        checked: CheckedModel | None = None,
    ) -> None:
        self.model = model
        self.checked = checked
        self.mode: Mode = mode or ("core" if model.core else "FTTS")
        if model.core != (self.mode == "core"):
            kind = "core" if model.core else "timed"
            raise UserError(
                f"{model.name} is a {kind} model; it cannot be explored in mode {self.mode}"
            )
        timed = not model.core
        self.reads_time = reads_absolute_time(model, checked) if timed else None
        self.absolute = timed and (absolute or self.reads_time is not None)
        rules = Rules(self.mode == "TTS", deadlines, overflows)
        if rules.splits:
            reads = reads_waiting_time(model, checked), reads_message_times(model, checked)
            rules = Rules(*rules[:3], *reads)
        self.runner = MemoizedRunner(
            model, rules, memoizes=self.reads_time is None, repeats=repeats
        )
        left_out = abstracted or (frozenset(),) * len(self.runner.rebecs)
        self.runner.store = self.locals = LocalStore(
            self.runner.rebecs,
            [
                frozenset(place for place, name in enumerate(names) if name in hidden)
                for names, hidden in zip(self.runner.names, left_out, strict=True)
            ],
            model.core,
            model.uses_global_priority,
            self.runner.timers,
        )
        self.partial_order: PartialOrder | None = None
        """Says which rebec goes first, alone; None if all orders are followed."""
        self.start_time = 0
        self.initial = self._initial()

    def tables(self) -> Iterator[Sized]:
        """Give the dictionaries that grow while states are met."""
        yield from self.locals.tables()
        yield from self.runner.tables()

    def _initial(self) -> State:
        runner = self.runner
        bags = runner.initial_bags
        if self.mode == "FTTS":
            self.start_time = min((bag[0].arrival for bag in bags if bag), default=0)
        parts: list[Any] = [
            self.locals.intern(
                owner,
                self.locals.later(owner, variables, self.start_time),
                0,
                None,
                self.locals.arrange(
                    tuple([runner.encode(message, self.start_time) for message in bag])
                ),
            )
            for owner, (variables, bag) in enumerate(
                zip(runner.initial_variables, bags, strict=True)
            )
        ]
        if self.absolute:
            parts.append(self.start_time)
        return tuple(parts)

    # --- transitions ---------------------------------------------------------------------------

    def expand(self, state: State) -> list[Successor]:
        """Give every transition of a state.

        They come in a fixed order: by rebec, message and choices. No transition: a deadlock.
        """
        parts = state[:-1] if self.absolute else state
        enabled = [local for local in parts if not local.next]
        if len(enabled) > 1:
            enabled = most_urgent(enabled, [local.urgency for local in enabled])
        if self.mode == "TTS" and not enabled:
            return self._time_step(state)
        if self.partial_order is not None and len(enabled) > 1:
            ample_rebec = self.partial_order.ample_rebec(enabled)
            if ample_rebec is not None:
                return self._ample_transitions(state, parts, ample_rebec, enabled)
        return self._messages(state, parts, enabled)

    def _ample_transitions(
        self, state: State, parts: State, ample_rebec: int, enabled: list[Local]
    ) -> list[Successor]:
        """Give the transitions of a rebec; where one goes wrong, also those of the others."""
        found = self._messages(state, parts, [parts[ample_rebec]])
        if any(isinstance(target, Breach) for _, target, _ in found):
            found += self._messages(
                state, parts, [each for each in enabled if each.owner != ample_rebec]
            )
        return found

    def _messages(self, state: State, parts: State, enabled: list[Local]) -> list[Successor]:
        time = state[-1] if self.absolute else 0
        read_at = time if self.reads_time is not None else 0
        floating, absolute = self.mode == "FTTS", self.absolute
        found: list[Successor] = []
        for local in enabled:
            outcomes = local.outcomes
            if outcomes is None or local.outcomes_at != read_at:
                outcomes = local.outcomes = self.runner.outcomes(local, read_at)
                local.outcomes_at = read_at
            owner = local.owner
            for outcome in outcomes:
                effect = outcome.effect
                breach = effect.breach
                after: list[Any] = list(parts)
                after[owner] = outcome.local
                if effect.sendings:
                    breach = self._deliver(effect.sendings, after, time) or breach
                if breach is not None:
                    found.append((outcome, breach, 0))
                    continue
                units = self._advance(after) if floating else 0
                if absolute:
                    after.append(time + units)
                found.append((outcome, tuple(after), units))
        return found

    def _deliver(self, sendings: tuple[Sending, ...], parts: list[Any], time: int) -> Breach | None:
        """Put messages into the bags of their receivers; give the breach if one is full."""
        for sending in sendings:
            receiver = sending.receiver
            before = parts[receiver]
            try:
                after = before.received[sending]
            except KeyError:
                after = self.runner.receive(before, sending)
            if after is None:
                return self.runner.overflow(receiver, sending.message, time)
            parts[receiver] = after
        return None

    def _advance(self, parts: list[Any]) -> int:
        """Move the time of the parts to the next event and give by how many units it was moved.

        Without an event, that is when the first rebec is free.
        """
        units: int = min([local.next for local in parts])
        if units == NEVER:
            units = min([local.clock for local in parts])
        if units:
            parts[:] = [
                local.shifted.get(units) or self.locals.shift(local, units) for local in parts
            ]
        return units

    def _time_step(self, state: State) -> list[Successor]:
        parts = list(state[:-1] if self.absolute else state)
        if min([local.next for local in parts]) == NEVER:
            return []
        units = self._advance(parts)
        if self.absolute:
            parts.append(state[-1] + units)
        return [(TIME, tuple(parts), units)]


_MOST_CELLS = 256
"""The most integers of a rebec: the inner states of all rebecs take as much room as the largest."""


def can_be_served(system: TransitionSystem, checked: CheckedModel) -> bool:
    """Whether a compiled step could stand for the message servers of a system.

    Not if they ask for the absolute time, if a delay ends a transition, if a variable is a timer,
    which runs on, or a float, or if a rebec has very many variables.
    """
    classes = {each.class_name: checked.classes[each.class_name] for each in checked.instances}
    variables = [symbol for each in classes.values() for symbol in each.state_variables]
    return (
        system.reads_time is None
        and not system.locals.abstracts
        and not any(element_type(symbol.type) in REAL | {TIMER} for symbol in variables)
        and max(class_cells(each).size for each in classes.values()) <= _MOST_CELLS
        and not (system.mode == "TTS" and any(delays(checked, each) for each in classes.values()))
    )
