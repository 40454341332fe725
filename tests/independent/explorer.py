"""A deliberately slow and simple explorer, written from the rules of Timed Rebeca.

It shares nothing with the package under test: neither parser nor arithmetic nor state. All times
of a state are relative to the state's time, so states that differ by a shift are equal. A message
server that waits in a `delay` is what it can still read: live local variables and its place.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.independent.arithmetic import convert, zero
from tests.independent.language import Model, Server
from tests.independent.places import Places
from tests.independent.running import Activation, Run
from tests.independent.states import (
    NEVER,
    Broken,
    Message,
    Rebec,
    TooLarge,
    moved_to,
    shift,
)


@dataclass
class Found:
    """What an exploration gives, counted as the reference does."""

    states: int = 0
    transitions: int = 1
    breaches: set[str] = field(default_factory=set)


class Explorer:
    """Explores one model in one mode: "FTTS", "TTS" or "core"."""

    def __init__(self, model: Model, mode: str, most: int) -> None:
        self.model = model
        self.mode = mode
        self.most = most
        self.names = [each.name for each in model.instances]
        self.kinds = [each.kind for each in model.instances]
        servers = [server for kind in model.classes for server in kind.servers]
        started = [kind.constructor for kind in model.classes if kind.constructor is not None]
        self.places = Places([each.body for each in (*servers, *started)])
        self.known = [
            {
                name: self.names.index(bound)
                for (name, _), bound in zip(model.known(each.kind), each.known, strict=True)
            }
            for each in model.instances
        ]
        self.sizes = [model.by_name[each.kind].size for each in model.instances]
        self.fields = [model.variables(kind) for kind in self.kinds]
        self.global_priorities = any(each.global_priority is not None for each in servers)

    # --- the search ------------------------------------------------------------------------------

    def explore(self) -> Found:
        """Visit every state."""
        found = Found()
        first = self.initial()
        seen = {first}
        todo = [first]
        if self.mode == "TTS":
            self._let_time_pass(first, seen, todo, found)
        while todo:
            state = todo.pop()
            if not any(each.bag or each.waiting for each in state):
                found.breaches.add("deadlock")
                continue
            for outcome in self.steps(state):
                if isinstance(outcome, str):
                    found.breaches.add(outcome)
                    continue
                found.transitions += 1
                if outcome not in seen:
                    seen.add(outcome)
                    todo.append(outcome)
                    if self.mode == "TTS":
                        self._let_time_pass(outcome, seen, todo, found)
                    if len(seen) > self.most:
                        raise TooLarge
        found.states = len(seen)
        return found

    def _let_time_pass(self, state: tuple, seen: set, todo: list, found: Found) -> None:
        """A new state in which nobody may act is followed by the same one later."""
        times = [self.next_time(each) for each in state]
        if min(times) in (0, NEVER):
            return
        todo.remove(state)
        later = tuple(shift(each, min(times)) for each in state)
        found.transitions += 1
        if later not in seen:
            seen.add(later)
            todo.append(later)

    def next_time(self, rebec: Rebec) -> int:
        """When a rebec can act, relative to the time of the state."""
        if rebec.waiting is not None:
            return rebec.waiting.resume
        if not rebec.bag:
            return NEVER
        return max(rebec.clock, rebec.bag[0].arrival)

    def initial(self) -> tuple[Rebec, ...]:
        """Give the state after all constructors."""
        rebecs = []
        for owner, each in enumerate(self.model.instances):
            kind = self.model.by_name[each.kind]
            values = tuple(zero(t) for _, t in self.fields[owner])
            rebecs.append(Rebec(values, 0, ()))
            if kind.constructor is None:
                first = self.message(owner, "initial", 0, None, NEVER, each.arguments)
                rebecs[owner] = Rebec(values, 0, (first,))
        state = tuple(rebecs)
        for owner, each in enumerate(self.model.instances):
            constructor = self.model.by_name[each.kind].constructor
            if constructor is None:
                continue
            message = Message(0, 0, "", owner, NEVER, each.arguments)
            activation = self._activation(owner, constructor, message, 0)
            run = Run(self, state, activation, [])
            run.occupied = 0
            run.go()
            state = run.state()
        if self.mode == "FTTS":
            start = min(self.next_time(each) for each in state)
            state = tuple(shift(moved_to(each, start), start) for each in state)
        return state

    def _activation(self, owner: int, server: Server, message: Message, time: int) -> Activation:
        values = [
            convert(value, kind)
            for value, (_, kind) in zip(message.arguments, server.parameters, strict=True)
        ]
        names = [name for name, _ in server.parameters]
        return Activation(
            owner,
            message,
            [[server.body.number, 0]],
            dict(zip(names, values, strict=True)),
            time,
            time - message.arrival,
        )

    def message(
        self,
        receiver: int,
        server: str,
        arrival: int,
        sender: int | None,
        deadline: int,
        arguments: tuple,
    ) -> Message:
        found = self.model.server(self.kinds[receiver], server)
        assert found is not None
        priority = NEVER if found.priority is None else found.priority
        if self.mode == "core":
            arrival, priority, deadline = 0, 0, NEVER
        kinds = [kind for _, kind in found.parameters]
        values = tuple(convert(v, k) for v, k in zip(arguments, kinds, strict=True))
        return Message(arrival, priority, server, sender, deadline, values)

    # --- one step --------------------------------------------------------------------------------

    def steps(self, state: tuple[Rebec, ...]) -> Any:
        """Give the outcome of every step: a state, or the kind of a breach."""
        times = [self.next_time(each) for each in state]
        now = 0 if self.mode == "TTS" else min(times)
        if self.mode == "core":
            able = [owner for owner, each in enumerate(state) if each.bag]
        else:
            able = [owner for owner, time in enumerate(times) if time == now]
            urgent = min((self._priority(state, owner) for owner in able), default=0)
            able = [owner for owner in able if self._priority(state, owner) == urgent]
        for owner in able:
            rebec = state[owner]
            if rebec.waiting is not None:
                yield from self._outcomes(state, owner, rebec.waiting.message, now)
                continue
            head = rebec.bag[0]
            for place, message in enumerate(rebec.bag):
                if self.mode == "core":
                    if place:
                        break
                elif (message.arrival, message.priority) != (head.arrival, head.priority):
                    break
                if message.deadline < now:
                    yield "deadline missed"
                    continue
                bag = rebec.bag[:place] + rebec.bag[place + 1 :]
                served = (*state[:owner], rebec._replace(bag=bag), *state[owner + 1 :])
                yield from self._outcomes(served, owner, message, now)

    def _priority(self, state: tuple[Rebec, ...], owner: int) -> int:
        if self.global_priorities:
            rebec = state[owner]
            message = rebec.waiting.message if rebec.waiting else rebec.bag[0]
            server = self.model.server(self.kinds[owner], message.server)
            assert server is not None
            return NEVER if server.global_priority is None else server.global_priority
        given = self.model.instances[owner].priority
        return NEVER if given is None else given

    def _outcomes(self, state: tuple[Rebec, ...], owner: int, message: Message, now: int) -> Any:
        """Run a message server, or the rest of one, once for every way to choose."""
        script: list[list[int]] = []
        while True:
            run = Run(self, state, self._begin(state[owner], owner, message, now), script)
            try:
                run.go()
                yield self._settle(run)
            except Broken as broken:
                yield broken.kind
            while script and script[-1][0] + 1 == script[-1][1]:
                script.pop()
            if not script:
                return
            script[-1][0] += 1

    def _begin(self, rebec: Rebec, owner: int, message: Message, now: int) -> Activation:
        server = self.model.server(self.kinds[owner], message.server)
        assert server is not None
        time = 0 if self.mode == "core" else now
        activation = self._activation(owner, server, message, time)
        if rebec.waiting is not None:
            activation.stack = [list(each) for each in rebec.waiting.place]
            activation.locals = dict(rebec.waiting.live)
        return activation

    def _settle(self, run: Run) -> tuple[Rebec, ...]:
        state = run.state()
        if self.mode != "FTTS":
            return state
        times = [self.next_time(each) for each in state]
        start = min(times)
        if start == NEVER:
            start = min(each.clock for each in state)
        return tuple(shift(moved_to(each, start), start) for each in state)
