"""Random models for the independent explorer, each from a number.

Two or three rebecs of two classes send each other messages. Together the models use what the
language has: constructors and `initial`, interfaces, inheritance, priorities of three kinds,
timers, numbers of all widths, arrays, choices, loops, delays, small bags and short deadlines.
"""

from __future__ import annotations

from random import Random

from tests.independent.language import (
    BOOLEAN,
    BYTE,
    DOUBLE,
    FLOAT,
    INT,
    TIMER,
    Block,
    Class,
    Instance,
    Model,
    Server,
)

SERVERS = ("ping", "pong", "tick")


def number(value: float, kind: str = INT) -> tuple:
    """Give a literal."""
    return ("number", value, kind)


def draw(seed: int) -> Model:
    """Draw the model of a number."""
    return _Drawing(Random(seed)).model()


class _Drawing:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.blocks = 0
        self.local = 0
        self.core = random.random() < 0.25
        self.timers = not self.core and random.random() < 0.3
        self.floats = random.random() < 0.25
        self.interface = random.random() < 0.3
        self.inherits = random.random() < 0.3
        self.initial = random.random() < 0.3
        self.priorities = self.core is False and random.random() < 0.4
        self.global_priorities = self.core is False and random.random() < 0.1
        self.locals: list[str] = []
        self.delays = False
        self.depth = 0

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def pick(self, *values: object) -> object:
        return self.random.choice(values)

    def block(self, statements: list[tuple]) -> Block:
        self.blocks += 1
        return Block(self.blocks, tuple(statements))

    # --- the model -------------------------------------------------------------------------------

    def model(self) -> Model:
        kinds = ["First", "Second"]
        first = self._class("First", None)
        second = self._class("Second", "First" if self.inherits else None)
        count = self.random.randint(2, 3)
        chosen = [kinds[self.random.randrange(2)] for _ in range(count)]
        chosen[0] = "First"
        faces = (("Peer", ("ping",)),) if self.interface else ()
        model = Model((first, second), (), self.core, faces)
        instances = []
        for place, kind in enumerate(chosen):
            known = []
            for _, wanted in model.known(kind):
                fitting = [n for n, each in enumerate(chosen) if model.is_a(each, wanted)]
                known.append(f"r{self.random.choice(fitting)}")
            priority = self.random.randint(1, 2) if self.priorities and self.chance(0.4) else None
            instances.append(Instance(f"r{place}", kind, tuple(known), (place,), priority))
        return Model((first, second), tuple(instances), self.core, faces)

    def _class(self, name: str, base: str | None) -> Class:
        variables = [] if base else [("a", INT), ("b", INT), ("flag", BOOLEAN), ("cells", "int[3]")]
        if base:
            variables = [("extra", INT)]
        elif self.floats:
            variables += [("single", FLOAT), ("wide", DOUBLE), ("small", BYTE)]
        if not base and self.timers:
            variables.append(("clock", TIMER))
        known = []
        if base is None:
            second = "Peer" if self.interface else "First"
            known = [("other", "First"), ("third", second)]
        names = SERVERS if base is None else ("pong",) if self.chance(0.7) else ("ping", "tick")
        servers = [self._server(each) for each in names]
        constructor: Server | None = None
        start: list[tuple] = [("set", "a", INT, ("variable", "x", INT))]
        if self.timers and self.chance(0.7):
            start.append(("start", "clock"))
        if self.initial:
            if base is None:
                self.locals, self.delays = [], False
                body = [*start, *(self._statement() for _ in range(2)), self._tick()]
                servers.append(Server("initial", (("x", INT),), self.block(body)))
        else:
            constructor = Server(name, (("x", INT),), self.block([*start, self._tick(first=True)]))
        methods = (("twice", "y", ("binary", "*", ("variable", "y", INT), number(2))),)
        faces = ("Peer",) if self.interface and base is None else ()
        size = self.random.randint(3, 6)
        return Class(
            name, size, tuple(known), tuple(variables), tuple(servers), constructor,
            () if base else methods, base, faces,
        )  # fmt: skip

    def _tick(self, first: bool = False) -> tuple:
        after = None if self.core else self.pick(None, number(1), number(3))
        receiver = self.pick("self", "")
        return ("send", receiver, None, "tick", (number(1),), after, None)

    def _server(self, name: str) -> Server:
        self.locals, self.delays, self.depth = [], not self.core and self.chance(0.5), 0
        body = [self._statement() for _ in range(self.random.randint(1, 4))]
        if name == "tick":
            body.append(self._tick() if self.chance(0.5) else self._send())
            if self.timers and self.chance(0.5):
                body.append(("start", "clock"))
        priority = self.random.randint(1, 2) if self.priorities and self.chance(0.3) else None
        urgent = None
        if self.global_priorities and priority is None and self.chance(0.6):
            urgent = self.random.randint(1, 2)
        return Server(name, (("x", INT),), self.block(body), priority, urgent)

    # --- statements ------------------------------------------------------------------------------

    def _statement(self) -> tuple:
        kinds = ["set"] * 4 + ["send"] * 2 + ["choose", "if", "if", "cells", "flag", "local"]
        kinds += ["assert", "switch", "while", "reply", "number"]
        if not self.core:
            kinds += ["delay"] * 3 if self.delays else ["waited"]
        if self.timers:
            kinds += ["timer", "timer"]
        kind = self.pick(*kinds)
        return getattr(self, f"_{kind}")()

    def _inner(self, most: int = 2) -> Block:
        kept = list(self.locals)
        self.depth += 1
        statements = [self._statement() for _ in range(self.random.randint(0, most))]
        self.depth -= 1
        self.locals = kept
        return self.block(statements)

    def _set(self) -> tuple:
        target = self.pick("a", "b", "x", *self.locals)
        return ("set", target, INT, ("binary", "%", self._number_from(), number(3)))

    def _local(self) -> tuple:
        self.local += 1
        name = f"v{self.local}"
        node = ("local", name, INT, self._number_from())
        self.locals.append(name)
        return node

    def _choose(self) -> tuple:
        alternatives = self.pick((0, 1), (0, 1, 2), (2, 1, 2))
        return ("choose", self.pick("a", "b", *self.locals), alternatives)

    def _send(self) -> tuple:
        receiver = self.pick("self", "", "other", "other", "third")
        servers = ("ping",) if receiver == "third" and self.interface else SERVERS
        arguments = (self.pick(number(0), number(1), self._variable()),)
        after = deadline = None
        if not self.core:
            after = self.pick(None, None, number(1), number(2))
            if self.chance(0.2):
                distance = ("binary", "%", ("variable", "a", INT), number(3))
                after = ("binary", "+", distance, number(2))
            deadline = self.pick(None, None, None, 4, 7)
        return ("send", receiver, None, self.pick(*servers), arguments, after, deadline)

    def _reply(self) -> tuple:
        kind = self.pick("First", "Second", *(["Peer"] if self.interface else []))
        send = ("send", "sender", kind, "ping", (number(0),), None, None)
        return ("if", ("is", "sender", kind), self.block([send]), self._inner(1))

    def _if(self) -> tuple:
        if self.depth > 1:
            return self._set()
        return ("if", self._condition(), self._inner(), self._inner(1))

    def _while(self) -> tuple:
        if self.depth > 0:
            return self._choose()
        self.local += 1
        name = f"v{self.local}"
        self.depth += 1
        kept = list(self.locals)
        self.locals.append(name)
        body = [self._statement() for _ in range(self.random.randint(1, 2))]
        if self.chance(0.3):
            body.append(("if", self._condition(), self.block([("break",)]), self.block([])))
        counter = f"n{self.local}"
        more = ("binary", "+", ("variable", counter, INT), number(1))
        body.append(("set", counter, INT, more))
        self.locals = kept
        self.depth -= 1
        body.insert(0, ("local", name, INT, self._number_from()))
        start = ("local", counter, INT, number(0))
        condition = ("binary", "<", ("variable", counter, INT), number(2))
        loop = ("while", condition, self.block(body))
        return ("if", self._condition(), self.block([start, loop]), self.block([]))

    def _switch(self) -> tuple:
        if self.depth > 0:
            return self._set()
        labels = [0, 1, None] if self.chance(0.6) else [1, 2]
        body: list[tuple] = []
        starts = []
        kept = list(self.locals)
        self.depth += 1
        for _ in labels:
            starts.append(len(body))
            inner = self._statement()
            while inner[0] == "local":  # its scope would be all cases
                self.locals = list(kept)
                inner = self._statement()
            body.append(inner)
            if self.chance(0.6):
                body.append(("break",))
        self.depth -= 1
        return ("switch", self._number_from(), tuple(labels), self.block(body), tuple(starts))

    def _cells(self) -> tuple:
        index = self.pick(number(0), number(1), number(2), ("variable", "a", INT))
        value = ("binary", "%", self._number_from(), number(2))
        return ("set", ("cell", "cells", index), INT, value)

    def _flag(self) -> tuple:
        flag = ("variable", "flag", BOOLEAN)
        return ("set", "flag", BOOLEAN, ("binary", "^", flag, self._condition()))

    def _assert(self) -> tuple:
        flag = ("variable", "flag", BOOLEAN)
        return ("assert", ("binary", "||", self._condition(), flag))

    def _delay(self) -> tuple:
        return ("delay", number(self.random.randint(0, 2)))

    def _waited(self) -> tuple:
        return ("set", "b", INT, ("binary", "%", ("waited",), number(3)))

    def _timer(self) -> tuple:
        if self.chance(0.5):
            return (self.pick("start", "start", "stop"), "clock")
        return ("set", "b", INT, ("binary", "%", ("timer", "clock"), number(3)))

    def _number(self) -> tuple:
        if not self.floats:
            return self._set()
        single, wide = ("variable", "single", FLOAT), ("variable", "wide", DOUBLE)
        match self.random.randrange(5):
            case 0:
                more = ("binary", "+", single, number(0.1, FLOAT))
                halved = ("binary", "*", more, number(0.5, FLOAT))
                return ("set", "single", FLOAT, halved)
            case 1:
                more = ("set", "wide", DOUBLE, ("binary", "+", wide, number(0.1, DOUBLE)))
                again = ("set", "wide", DOUBLE, number(0.0, DOUBLE))
                less = ("binary", "<", wide, number(0.3, DOUBLE))
                return ("if", less, self.block([more]), self.block([again]))
            case 2:
                scaled = ("binary", "*", wide, number(10.0, DOUBLE))
                return ("set", "b", INT, ("binary", "%", ("cast", INT, scaled), number(3)))
            case 3:
                mixed = ("binary", "==", single, wide)
                return ("set", "flag", BOOLEAN, mixed)
        powered = ("power", number(2), ("variable", "b", INT))
        return ("set", "small", BYTE, ("cast", BYTE, powered))

    # --- expressions -----------------------------------------------------------------------------

    def _variable(self) -> tuple:
        return ("variable", self.pick("a", "b", "x", *self.locals), INT)

    def _number_from(self) -> tuple:
        right = self.pick(number(1), number(2), self._variable())
        left = self._variable()
        if self.chance(0.1):
            left = ("call", "twice", left)
        if self.chance(0.1):
            left = ("cell", "cells", self.pick(number(0), number(2)))
        return ("binary", self.pick("+", "-", "*"), left, right)

    def _condition(self) -> tuple:
        if self.chance(0.15):
            return ("is", self.pick("other", "third", "sender"), self.pick("First", "Second"))
        if self.chance(0.1):
            return ("same", "sender", self.pick("self", "other"))
        operator = self.pick("<", "==", "!=", ">=")
        return ("binary", operator, self._variable(), number(self.random.randint(-1, 2)))
