"""Generate a step over flat cells from a checked model: functions that Numba compiles.

Each message server and method of a class becomes a function, and `step` calls the one that a
message asks for. What they work on is always the same (`SURROUNDINGS`), so that the loops of the
engines are compiled once and call the step of any model. Numbers that differ between the
configurations of a template, as env constants and lengths of arrays do, are parameters of the step:
so message servers that are equal but for them are equal functions and are compiled once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rebecsim.errors import UserError
from rebecsim.generate.cells import (
    ClassCells,
    FunctionNumbers,
    StepTables,
    class_cells,
    flat_length,
)
from rebecsim.generate.code import StepNames, shown_name, words_in
from rebecsim.generate.step_expressions import (
    StepExpressions,
    StepMethod,
    Surroundings,
    decoded,
)
from rebecsim.generate.step_statements import StepBodyWriter, returned
from rebecsim.lang import syntax
from rebecsim.lang.checked import BOOLEAN, REAL, VOID, ArrayType, CheckedClass, CheckedModel, Type

SURROUNDINGS = {
    "base": "int64",
    "cells": "int64[::1]",
    "message": "int64[::1]",
    "sends": "int64[:, ::1]",
    "rebecs": "int64[:, ::1]",
    "ctx": "int64[::1]",
    "streams": "uint64[:, ::1]",
    "choices": "int64[::1]",
    "params": "int64[::1]",
}
"""What a step works on: the first cell of the rebec at work and the variables of all rebecs, the
message that is served, where messages to send are put, the queues of all rebecs, the slots of
`rebecsim.native.codes`, the random streams, the choices drawn, the numbers of the model."""

STEP_SIGNATURE = f"void(int64, {', '.join(SURROUNDINGS.values())})"
"""The type of every `step`; its first argument is the number of the message server."""

_OPERATIONS = [
    "bits",
    "choose",
    "choose_weighted",
    "delay",
    "double_quotient",
    "draw",
    "element",
    "endless",
    "fill",
    "fitting",
    "float32",
    "float_quotient",
    "int8",
    "int16",
    "int32",
    "is_one_of",
    "power",
    "quotient",
    "real",
    "refer",
    "remainder",
    "require",
    "send",
    "sendable",
    "square_root",
    "store",
    "timer_value",
    "truncate",
]
_COLUMNS = [
    "ARGUMENTS",
    "ARRIVAL",
    "CLASS",
    "DEADLINE",
    "FAILED",
    "NEVER",
    "NOW",
    "NO_TIME",
    "SELF",
    "SENDER",
    "SENDS",
    "STARTED",
]
_OTHERS = [
    "LATEST_DEADLINE",
    "compiled",
    "copied",
    "kept",
    "np",
    "numbers",
    "pick",
    "room",
    "server",
    "sites",
    "step",
]
_DEEPEST = 4 * 95  # columns; Python indents at most 100 levels
_MOST_CLASSES = 62  # a set of classes is the bits of an integer


class NotNativeError(UserError):
    """A model that the native engine cannot run; the text says why and what to do."""


@dataclass(frozen=True)
class StepSource:
    """The step of a model as text, and what the numbers in it mean.

    Attributes:
        text: a Python module with the function `step`.
        cells: how the rebecs of each class are laid out; classes with instances only.
        servers: (class, message server) -> the number `step` knows it by.
        params: the numbers that the step is given: of each message server, then of each function.
        sites: what failures tell of, by their numbers: lines of indices, texts of assertions,
            classes.
    """

    text: str
    cells: dict[str, ClassCells]
    servers: dict[tuple[str, str], int]
    params: tuple[int, ...]
    sites: tuple[int | str, ...]


def step_source(model: CheckedModel, file: str = "") -> StepSource:
    """Write the step of a checked model; `file` is the name of its source, for the comments.

    The text is made of the checked tree alone, as that of `python_source` is. Raises
    NotNativeError for models with recursive methods or more than 62 classes.
    """
    module = _StepWriter(model)
    lines = [line for function in module.functions() for line in function.text()]
    body = "\n".join([*lines, *_dispatch(module.dispatch())])
    head = _HEAD.format(source=shown_name(file) or "a model")
    text = "\n".join([head, *_imports(words_in(body)), body, ""])
    tables = module.tables
    return StepSource(text, module.cells, module.servers, tuple(tables.params), tuple(tables.sites))


_HEAD = '''\
"""The step of {source} over flat cells: written by rebecsim, not by hand.

A rebec's variables are integers in `cells`, from `base` on, and the numbers of the model that a
function needs are in `params`, from `numbers` on. What can fail sets `ctx[FAILED]`. The comments \
name
the lines of the Rebeca text.
"""
'''


def _imports(words: set[str]) -> Iterator[str]:
    """Import what the words of a text name."""
    if "np" in words:
        yield "import numpy as np\n"
    for module, names in {
        "actors.rebec": ["LATEST_DEADLINE"],
        "native.arrays": ["copied", "pick", "room"],
        "native.cache": ["compiled"],
        "native.codes": _COLUMNS,
        "native.operations": _OPERATIONS,
    }.items():
        used = [name for name in names if name in words]
        if used:
            yield f"from rebecsim.{module} import {', '.join(used)}"


def _dispatch(calls: Iterable[str]) -> Iterator[str]:
    yield from ("", "", f'@compiled("{STEP_SIGNATURE}")')
    yield f"def step(server, {', '.join(SURROUNDINGS)}):"
    yield '    """Serve a message with the message server of this number."""'
    word = "if"
    for number, call in enumerate(calls):
        yield f"    {word} server == {number}:"
        yield f"        {call}"
        word = "elif"
    if word == "if":
        yield "    return"


@dataclass(frozen=True)
class _Function:
    """A message server or method."""

    name: str
    signature: str
    parameters: str
    comment: str
    lines: list[str]
    inline: bool

    def text(self) -> Iterator[str]:
        inline = ", inline=True" if self.inline else ""
        yield from ("", "", f'@compiled("{self.signature}"{inline})')
        yield f"def {self.name}({self.parameters}):"
        yield f"    # {self.comment}"
        for line in self.lines:
            yield f"    {line}"


class _StepWriter:
    """Writes the functions of a step."""

    def __init__(self, model: CheckedModel) -> None:
        self.model = model
        self.names = StepNames(model, [*SURROUNDINGS, *_OPERATIONS, *_COLUMNS, *_OTHERS])
        used = {instance.class_name for instance in model.instances}
        self.classes = [each for each in model.classes.values() if each.name in used]
        if len(self.classes) > _MOST_CLASSES:
            raise NotNativeError(
                f"the native engine runs models with up to {_MOST_CLASSES} classes, "
                f"this one has {len(self.classes)}; choose the python engine"
            )
        self.numbers = {each.name: number for number, each in enumerate(self.classes)}
        self.cells = {each.name: class_cells(each) for each in self.classes}
        self.servers = {
            (each.name, server.name): number
            for number, (each, server) in enumerate(
                (each, server) for each in self.classes for server in each.servers
            )
        }
        self.tables = StepTables(len(self.servers))
        self._functions: list[_Function] = []
        self._methods: dict[tuple[str, str], StepMethod | None] = {}
        self._calls: dict[tuple[str, str], str] = {}

    def functions(self) -> list[_Function]:
        """Write all functions: methods before those that call them, and before servers."""
        for each in self.classes:
            for name in each.methods:
                self._method(each, name)
        for each in self.classes:
            for server in each.servers:
                key = (each.name, server.name)
                function, called = self._function(each, server.tree)
                self._functions.append(function)
                arguments = list(called.surroundings)
                if called.numbers is not None:
                    number = self.servers[key]
                    self.tables.params[number] = called.numbers
                    arguments.append(f"params[{number}]")
                self._calls[key] = f"{called.name}({', '.join(arguments)})"
        return self._functions

    def dispatch(self) -> list[str]:
        """Write the call of each message server, in the order of their numbers."""
        return [self._calls[key] for key in self.servers]

    # --- functions -----------------------------------------------------------------------------

    def _method(self, owner: CheckedClass, name: str) -> StepMethod:
        key = (owner.name, name)
        if key in self._methods:
            written = self._methods[key]
            if written is None:
                raise NotNativeError(
                    f"the native engine does not run recursive methods, but {owner.name}.{name} "
                    "calls itself; choose the python engine"
                )
            return written
        self._methods[key] = None
        tree = owner.methods[name]
        kind = VOID if tree.return_type is None else self.model.declared_type(tree.return_type)
        function, written = self._function(owner, tree, kind)
        self._functions.append(function)
        self._methods[key] = written
        return written

    def _function(
        self,
        owner: CheckedClass,
        tree: syntax.MessageServer | syntax.Method,
        returns: Type | None = None,
    ) -> tuple[_Function, StepMethod]:
        """Write a method, or a message server, which finds its parameters in the message."""
        name, parameters = tree.name, tree.parameters
        assert tree.body is not None, "a class with instances has no abstract methods"
        around = Surroundings(
            self.cells[owner.name],
            self.numbers,
            lambda called: self._method(owner, called),
        )
        numbers = FunctionNumbers(self.tables)
        expressions = StepExpressions(self.model, owner, self.names, around, numbers)
        writer = StepBodyWriter(expressions, parameters, returns or VOID)
        lines = writer.lines(tree.body)
        kinds = [self.model.declared_type(each.type) for each in parameters]
        header = [f"{shown} = {value}" for shown, value in sorted(expressions.used.items())]
        header += numbers.header
        passed: list[str] = []
        if returns is None:
            header += _from_message(writer.parameters, kinds)
        else:
            passed = list(writer.parameters)
            header += ["if ctx[FAILED] != 0:", f"    return{returned(returns)}"]
        lines = [*header, *lines]
        words = words_in("\n".join(line.partition("  # ")[0] for line in lines))
        surroundings = tuple(each for each in SURROUNDINGS if each in words)
        types = [SURROUNDINGS[each] for each in surroundings]
        start = None
        if "numbers" in words:
            start = numbers.close()
            passed.insert(0, "numbers")
            types.append("int64")
        types += [_numba_type(kind) for kind in kinds if returns is not None]
        if any(len(line) - len(line.lstrip()) > _DEEPEST for line in lines):
            raise NotNativeError(
                f"{owner.name}.{name} is nested too deeply for the native engine; "
                "choose the python engine"
            )
        function = _Function(
            self.names.functions[owner.name, name],
            f"{_numba_type(returns or VOID)}({', '.join(types)})",
            ", ".join((*surroundings, *passed)),
            f"line {self.model.line_of(tree)}",
            lines,
            returns is None,  # `step` is the one place where a message server is called
        )
        return function, StepMethod(function.name, surroundings, start, writer.fallible)


def _from_message(names: Iterable[str], kinds: Iterable[Type]) -> list[str]:
    lines = []
    column = 0
    for name, kind in zip(names, kinds, strict=True):
        place = f"ARGUMENTS + {column}" if column else "ARGUMENTS"
        value = decoded(f"message[{place}]", kind).text
        if isinstance(kind, ArrayType):
            value = f"copied(message, {place}, {flat_length(kind)})"
        lines.append(f"{name} = {value}")
        column += flat_length(kind)
    return lines


def _numba_type(kind: Type) -> str:
    if kind == VOID:
        return "void"
    if kind == BOOLEAN:
        return "boolean"
    if isinstance(kind, ArrayType):
        return "int64[::1]"
    return "float64" if kind in REAL else "int64"
