"""Running a message server of the independent explorer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tests.independent.arithmetic import convert, kind_of, operate
from tests.independent.language import INT
from tests.independent.states import (
    NEVER,
    STOPPED,
    Broken,
    Message,
    Rebec,
    Started,
    Waiting,
    order,
)

if TYPE_CHECKING:
    from tests.independent.explorer import Explorer


@dataclass
class Activation:
    """A message server on its way: a stack of places, and local variables by name."""

    owner: int
    message: Message
    stack: list[list]
    locals: dict[str, Any]
    time: int
    waited: int


class Run:
    """Runs an activation on copies of the rebecs, up to its end or, with one time, a delay."""

    def __init__(
        self, explorer: Explorer, state: tuple[Rebec, ...], activation: Activation, script: list
    ) -> None:
        self.explorer = explorer
        self.activation = activation
        self.script = script
        self.drawn = 0
        self.occupied = 1
        self.bags = [list(each.bag) for each in state]
        self.before = state
        owner = activation.owner
        names = [name for name, _ in explorer.fields[owner]]
        self.kinds = dict(explorer.fields[owner])
        self.variables = dict(zip(names, state[owner].variables, strict=True))
        self.resume: int | None = None

    def go(self) -> None:
        """Run until the end or the first delay that ends the step."""
        stack = self.activation.stack
        while stack and self.resume is None:
            number, index = stack[-1]
            statements = self.explorer.places.blocks[number].statements
            if index == len(statements):
                stack.pop()
                continue
            self._execute(statements[index], stack)

    def state(self) -> tuple[Rebec, ...]:
        """Give the state that the run has led to, times as they were."""
        activation = self.activation
        owner = activation.owner
        rebecs = []
        for number, before in enumerate(self.before):
            rebecs.append(before._replace(bag=tuple(sorted(self.bags[number], key=order))))
            if self.explorer.mode == "core":
                rebecs[number] = before._replace(bag=tuple(self.bags[number]))
        waiting = None
        if self.resume is not None:
            place = tuple((number, index) for number, index in activation.stack)
            before = self.before[owner].waiting
            timed = before is None or before.timed
            message = activation.message
            # Drawn message servers with delays never ask for times of their message.
            if self.explorer.places.comes_back(place):
                timed, message = False, message._replace(arrival=0, deadline=NEVER)
            live = self.explorer.places.live(place, activation.locals)
            waiting = Waiting(self.resume, message, place, live, timed)
        clock = activation.time if self.explorer.mode == "FTTS" else 0
        rebecs[owner] = rebecs[owner]._replace(
            variables=tuple(self.variables.values()), clock=clock, waiting=waiting
        )
        return tuple(rebecs)

    # --- statements ------------------------------------------------------------------------------

    def _execute(self, node: tuple, stack: list[list]) -> None:
        activation = self.activation
        top = stack[-1]
        if node[0] == "while":
            if self.value(node[1]):
                stack.append([node[2].number, 0])
            else:
                top[1] += 1
            return
        if node[0] == "break":
            stack[:] = [list(each) for each in self.explorer.places.left(tuple(map(tuple, stack)))]
            return
        top[1] += 1
        match node:
            case ("set", ("cell", name, index), _, value):
                place, new = self.value(index), self.value(value)
                if not 0 <= place < len(self.variables[name]):
                    raise Broken("assertion failed")
                cells = list(self.variables[name])
                cells[place] = convert(new, INT)
                self.variables[name] = tuple(cells)
            case ("set", name, kind, value):
                self._assign(name, convert(self.value(value), kind))
            case ("local", name, kind, value):
                activation.locals[name] = convert(self.value(value), kind)
            case ("choose", name, alternatives):
                self._assign(name, alternatives[self._choice(len(alternatives))])
            case ("send", receiver, _, server, arguments, after, deadline):
                self._send(receiver, server, arguments, after, deadline)
            case ("if", condition, then, otherwise):
                stack.append([(then if self.value(condition) else otherwise).number, 0])
            case ("switch", subject, labels, body, starts):
                value = self.value(subject)
                wanted = value if value in labels else None
                if wanted in labels:
                    stack.append([body.number, starts[labels.index(wanted)]])
            case ("delay", duration):
                units = self.value(duration)
                if self.explorer.mode == "TTS" and self.occupied:
                    self.resume = activation.time + units
                else:
                    activation.time += units
            case ("assert", condition):
                if not self.value(condition):
                    raise Broken("assertion failed")
            case ("start", name):
                self.variables[name] = Started(activation.time)
            case ("stop", name):
                self.variables[name] = STOPPED
            case _:
                raise AssertionError(node)

    def _assign(self, name: str, value: Any) -> None:
        if name in self.variables:
            self.variables[name] = convert(value, self.kinds[name])
        else:
            self.activation.locals[name] = value

    def _choice(self, count: int) -> int:
        if self.drawn == len(self.script):
            self.script.append([0, count])
        self.drawn += 1
        return self.script[self.drawn - 1][0]

    def _send(
        self, receiver: str, server: str, arguments: tuple, after: Any, deadline: int | None
    ) -> None:
        activation, explorer = self.activation, self.explorer
        owner = activation.owner
        if receiver in ("", "self"):
            target: int | None = owner
        elif receiver == "sender":
            target = activation.message.sender
        else:
            target = explorer.known[owner][receiver]
        values = tuple(self.value(each) for each in arguments)
        arrival = activation.time + (0 if after is None else self.value(after))
        if target is None:
            raise Broken("assertion failed")
        latest = NEVER if deadline is None else activation.time + deadline
        message = explorer.message(target, server, arrival, owner, latest, values)
        places = explorer.sizes[target] - len(self.bags[target])
        if target == owner:
            places -= self.occupied
        elif self.before[target].waiting is not None:
            places -= 1
        if places <= 0:
            raise Broken("queue overflow")
        self.bags[target].append(message)

    # --- expressions -----------------------------------------------------------------------------

    def value(self, node: tuple) -> Any:
        """Evaluate an expression."""
        match node:
            case ("number", value, kind):
                return convert(value, kind)
            case ("variable", name, _):
                known = self.variables
                return known[name] if name in known else self.activation.locals[name]
            case ("cell", name, index):
                place = self.value(index)
                if not 0 <= place < len(self.variables[name]):
                    raise Broken("assertion failed")
                return self.variables[name][place]
            case ("waited",):
                return self.activation.waited
            case ("timer", name):
                started = self.variables[name]
                return -1 if started is STOPPED else self.activation.time - started
            case ("binary", "&&", left, right):
                return self.value(left) and self.value(right)
            case ("binary", "||", left, right):
                return self.value(left) or self.value(right)
            case ("binary", operator, left, right):
                return operate(
                    operator, self.value(left), self.value(right), kind_of(left), kind_of(right)
                )
            case ("not", operand):
                return not self.value(operand)
            case ("cast", kind, operand):
                return convert(self.value(operand), kind)
            case ("call", name, argument):
                return self._call(name, self.value(argument))
            case ("is", name, kind):
                target = self._rebec(name)
                explorer = self.explorer
                return target is not None and explorer.model.is_a(explorer.kinds[target], kind)
            case ("same", left, right):
                return self._rebec(left) == self._rebec(right)
            case ("power", base, exponent):
                return float(self.value(base)) ** float(self.value(exponent))
        raise AssertionError(node)

    def _rebec(self, name: str) -> int | None:
        if name == "sender":
            return self.activation.message.sender
        if name == "self":
            return self.activation.owner
        return self.explorer.known[self.activation.owner][name]

    def _call(self, name: str, argument: int) -> int:
        kind = self.explorer.kinds[self.activation.owner]
        for each in self.explorer.model.line_of(kind):
            for method, parameter, body in each.methods:
                if method == name:
                    outer = self.activation
                    self.activation = replace(outer, locals={parameter: convert(argument, INT)})
                    try:
                        return convert(self.value(body), INT)
                    finally:
                        self.activation = outer
        raise AssertionError(name)
