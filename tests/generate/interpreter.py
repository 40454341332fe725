"""An interpreter of handlers, straight from C's rules: the oracle of the code generator.

It walks the syntax tree, wraps after every single operation, and shares nothing with the
generator but the parser. Floats are numpy singles, doubles numpy doubles.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from rebecsim.lang import syntax

BITS = {"int": 32, "short": 16, "byte": 8}
KINDS = {"float": np.float32, "double": np.float64}
REALS = (np.float32, np.float64)


def convert(value, kind):
    if kind in BITS:
        if isinstance(value, REALS):
            value = int(value)
        size = 2 ** BITS[kind]
        return (int(value) + size // 2) % size - size // 2
    return KINDS[kind](value) if kind in KINDS else value


def real(left, right):
    """The type that two numbers are computed in; None: they are integers."""
    kinds = {type(left), type(right)}
    return next((kind for kind in (np.float64, np.float32) if kind in kinds), None)


class BreakLoop(BaseException):
    pass


class ContinueLoop(BaseException):
    pass


class ReturnValue(BaseException):
    pass


class Interpreter:
    """Runs one class's methods; `types` has the types of state variables, `state` their values."""

    def __init__(self, model: syntax.Model, choices=()) -> None:
        [self.tree] = model.classes
        self.types = {field.name: field.type.name for field in self.tree.state_variables}
        self.state = {field.name: self.default(field.type) for field in self.tree.state_variables}
        self.choices = list(choices)
        self.scopes = []

    @staticmethod
    def default(kind):
        zero = convert(0, kind.name) if kind.name != "boolean" else False
        return [zero] * kind.dimensions[0].value if kind.dimensions else zero

    def run(self, name, arguments=()):
        [server] = [
            each for each in (*self.tree.message_servers, *self.tree.methods) if each.name == name
        ]
        outer, self.scopes = self.scopes, []
        kinds = [parameter.type.name for parameter in server.parameters]
        values = [convert(a, k) for a, k in zip(arguments, kinds, strict=True)]
        names = [parameter.name for parameter in server.parameters]
        self.scopes.append(dict(zip(names, zip(kinds, values, strict=True), strict=True)))
        try:
            self.statement(server.body)
        except ReturnValue as result:
            return convert(result.args[0], server.return_type.name)
        finally:
            self.scopes = outer

    # --- places --------------------------------------------------------------------------------

    def kind_of(self, target):
        while isinstance(target, syntax.Index):
            target = target.array
        for scope in reversed(self.scopes):
            if target.identifier in scope:
                return scope[target.identifier][0]
        return self.types[target.identifier]

    def read(self, name):
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name][1]
        return self.state[name]

    def place(self, target):
        """Evaluate the index of a place once; give a reader and a writer."""
        kind = self.kind_of(target)
        if isinstance(target, syntax.Index):
            array, index = self.state[target.array.identifier], self.value(target.index)
            assert 0 <= index < len(array)
            return lambda: array[index], lambda v: array.__setitem__(index, convert(v, kind))
        name = target.identifier
        for scope in reversed(self.scopes):
            if name in scope:
                return self.local_place(scope, name, kind)
        return (
            lambda: self.state[name],
            lambda v: self.state.__setitem__(name, convert(v, kind)),
        )

    @staticmethod
    def local_place(scope, name, kind):
        return (
            lambda: scope[name][1],
            lambda v: scope.__setitem__(name, (kind, convert(v, kind))),
        )

    # --- expressions ---------------------------------------------------------------------------

    def value(self, node):
        match node:
            case syntax.IntLiteral(value) | syntax.BoolLiteral(value):
                return value
            case syntax.FloatLiteral(value, single):
                return np.float32(value) if single else np.float64(value)
            case syntax.Name(name):
                return self.read(name)
            case syntax.Index(array, index):
                return self.value(array)[self.value(index)]
            case syntax.Unary("!", operand):
                return not self.value(operand)
            case syntax.Unary(operator, operand):
                value = self.value(operand)
                if operator == "~":
                    return ~value
                signed = -value if operator == "-" else value
                return signed if isinstance(value, REALS) else convert(signed, "int")
            case syntax.Binary("&&", left, right):
                return self.value(left) and self.value(right)
            case syntax.Binary("||", left, right):
                return self.value(left) or self.value(right)
            case syntax.Binary(operator, left, right):
                return self.operate(operator, self.value(left), self.value(right))
            case syntax.Conditional(condition, then, otherwise):
                return self.value(then if self.value(condition) else otherwise)
            case syntax.Cast(kind, operand):
                return convert(self.value(operand), kind.name)
            case syntax.Choice(alternatives):
                return self.value(alternatives[self.choices.pop(0) % len(alternatives)])
            case syntax.Call(name, arguments):
                return self.run(name, [self.value(each) for each in arguments])
            case syntax.Assignment(target, operator, value):
                read, write = self.place(target)
                old = read()
                new = self.value(value)
                write(new if operator == "=" else self.operate(operator[:-1], old, new))
                return read()
            case syntax.Increment(target, operator, prefix):
                read, write = self.place(target)
                old = read()
                write(self.operate(operator[0], old, 1))
                return read() if prefix else old
        raise AssertionError(node)

    def operate(self, operator, left, right):
        if operator in ("==", "!=", "<", "<=", ">", ">="):
            if kind := real(left, right):
                left, right = kind(left), kind(right)
            return bool(
                {
                    "==": left == right,
                    "!=": left != right,
                    "<": left < right,
                    "<=": left <= right,
                    ">": left > right,
                    ">=": left >= right,
                }[operator]
            )
        if isinstance(left, bool) and isinstance(right, bool):
            return {"&": left & right, "|": left | right, "^": left ^ right}[operator]
        if kind := real(left, right):
            left, right = kind(left), kind(right)
            with np.errstate(all="ignore"):
                match operator:
                    case "+":
                        return left + right
                    case "-":
                        return left - right
                    case "*":
                        return left * right
                    case "/":
                        return left / right
        match operator:
            case "+":
                result = left + right
            case "-":
                result = left - right
            case "*":
                result = left * right
            case "/":
                result = int(np.trunc(left / right))
            case "%":
                result = left - right * int(np.trunc(left / right))
            case "<<":
                result = left << (right & 31)
            case ">>":
                result = left >> (right & 31)
            case "&":
                result = left & right
            case "|":
                result = left | right
            case "^":
                result = left ^ right
        return convert(result, "int")

    # --- statements ----------------------------------------------------------------------------

    def statement(self, node):
        match node:
            case syntax.Block(statements):
                self.block(statements)
            case syntax.LocalDeclaration(kind, variables):
                for name, initial in variables:
                    value = self.default(kind) if initial is None else self.value(initial)
                    self.scopes[-1][name] = (kind.name, convert(value, kind.name))
            case syntax.ExpressionStatement(expression):
                if not isinstance(expression, syntax.Send):
                    self.value(expression)
            case syntax.If(condition, then, otherwise):
                if self.value(condition):
                    self.block((then,))
                elif otherwise is not None:
                    self.block((otherwise,))
            case syntax.While(condition, body):
                self.loop(lambda: self.value(condition), body, ())
            case syntax.For(init, condition, update, body):
                self.scopes.append({})
                for each in (init,) if isinstance(init, syntax.LocalDeclaration) else init:
                    if isinstance(each, syntax.LocalDeclaration):
                        self.statement(each)
                    else:
                        self.value(each)
                self.loop(lambda: condition is None or self.value(condition), body, update)
                self.scopes.pop()
            case syntax.Switch(subject, cases):
                self.switch(self.value(subject), cases)
            case syntax.Break():
                raise BreakLoop
            case syntax.Continue():
                raise ContinueLoop
            case syntax.Return(value):
                raise ReturnValue(0 if value is None else self.value(value))
            case syntax.EmptyStatement():
                pass
            case _:
                raise AssertionError(node)

    def block(self, statements):
        depth = len(self.scopes)
        self.scopes.append({})
        try:
            for statement in statements:
                self.statement(statement)
        finally:
            del self.scopes[depth:]

    def loop(self, condition, body, update):
        while condition():
            try:
                self.block((body,))
            except BreakLoop:
                return
            except ContinueLoop:
                pass
            for expression in update:
                self.value(expression)

    def switch(self, subject, cases):
        labels = [None if case.value is None else self.value(case.value) for case in cases]
        start = labels.index(subject) if subject in labels else None
        if start is None:
            if None not in labels:
                return
            start = labels.index(None)
        with suppress(BreakLoop):
            self.block([each for case in cases[start:] for each in case.statements])
