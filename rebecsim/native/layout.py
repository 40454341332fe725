"""Lay out a model in arrays of integers, with its compiled step, and read values back from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebecsim import arithmetic
from rebecsim.actors import STOPPED, Model, Rebec, Since, System
from rebecsim.actors.randomness import ORDER_STREAM, choice_stream
from rebecsim.actors.rebec import Message as BagMessage
from rebecsim.generate.cells import Place, flat_length
from rebecsim.generate.step import StepSource, step_source
from rebecsim.lang import syntax
from rebecsim.lang.checked import (
    BOOLEAN,
    REAL,
    TIMER,
    ArrayType,
    CheckedModel,
    PrimitiveType,
    RebecType,
    Type,
)
from rebecsim.lang.traversal import walk
from rebecsim.native import codes as slot
from rebecsim.native.arrays import Integers
from rebecsim.native.codes import NO_TIME, Failure
from rebecsim.native.operations import KEY, MOST_ROUNDS, NUMBER, STREAM_WIDTH


def shown_value(cells: Sequence[int], kind: Type, names: Sequence[Any], now: int = 0) -> Any:
    """Give the value that starts at the first of these cells; a rebec as it is named.

    `now` is the local time of its rebec, which says how long a timer has been running.
    """
    if isinstance(kind, ArrayType):
        width = flat_length(kind.element)
        return [
            shown_value(cells[place * width :], kind.element, names, now)
            for place in range(kind.length)
        ]
    cell = int(cells[0])
    if isinstance(kind, RebecType):
        return None if cell < 0 else names[cell]
    if kind == TIMER:
        return STOPPED if cell == NO_TIME else now - cell
    if kind == BOOLEAN:
        return cell != 0
    if kind in REAL:
        return float(np.int64(cell).view(np.float64))
    return cell


@dataclass(frozen=True)
class RebecView:
    """How to read one rebec: its state variables, by their names in Rebeca, in their order there.

    `servers` are its message servers by number: their names and the types of their parameters.
    """

    name: str
    variables: tuple[tuple[str, Place], ...]
    servers: tuple[tuple[str, tuple[Type, ...]], ...]
    names: tuple[str, ...]

    def state(self, cells: Sequence[int], now: int) -> dict[str, Any]:
        """Give the state variables at a local time; `cells` start with the rebec's first one."""
        return {
            name: shown_value(cells[place.offset :], place.type, self.names, now)
            for name, place in self.variables
        }

    def arguments(self, server: int, cells: Sequence[int]) -> tuple[Any, ...]:
        """Give the arguments of a message for the server of this number."""
        kinds = self.servers[server][1]
        return tuple(
            shown_value(cells[column:], kind, self.names) for column, kind in columns_of(kinds)
        )


def columns_of(kinds: Iterable[Type]) -> Iterator[tuple[int, Type]]:
    """Give the types of arguments, each with its first column behind ARGUMENTS."""
    column = 0
    for kind in kinds:
        yield column, kind
        column += flat_length(kind)


@lru_cache(maxsize=64)
def load_step(text: str) -> dict[str, Any]:
    """Give the names that the text of a step defines; see `rebecsim.generate.step`.

    Only code generated from a checked tree may be given. Nothing is compiled before it is used.
    """
    namespace: dict[str, Any] = {"__name__": __name__}
    exec(compile(text, "<step>", "exec"), namespace)  # noqa: S102 - written from a checked tree
    return namespace


BASE, OWN_CLASS, CAPACITY, OWN_PRIORITY, FIRST_STREAM, BAG, REBEC_WIDTH = range(7)
"""Columns of the table of rebecs: first cell, class, queue size, priority, row of the random stream
of choice site 1, first row of the bag."""

NUMBER_IN_STEP, SERVER_PRIORITY, GLOBAL_PRIORITY, SERVER_WIDTH = range(4)
"""Columns of the table of message servers, by class and number within the class."""


@dataclass(frozen=True, eq=False)
class NativeModel:
    """A model whose constructors have run, as arrays that are never written to.

    Attributes:
        model: the model, to name things.
        checked: its checked tree.
        source: the text of its step.
        step: the compiled step.
        sites: what failures tell of.
        rebecs: shape (rebecs, REBEC_WIDTH).
        servers: shape (classes, servers of a class at most, SERVER_WIDTH).
        cells: the variables of all rebecs.
        bags: rows of messages, those of a rebec from its BAG on, sorted; shape (sum of the queue
            sizes, columns of a message).
        counts: messages in each bag.
        params: the numbers that the step is given.
        sequence: how many messages have been sent.
        cell_of: the cell of each state variable that is a number or boolean, by rebec and name in
            Python.
        views: how to read each rebec.
        stream_numbers: of the random streams, that of the order of messages first.
    """

    model: Model
    checked: CheckedModel
    source: StepSource
    step: Callable[..., None]
    sites: tuple[int | str, ...]
    rebecs: Integers
    servers: Integers
    cells: Integers
    bags: Integers
    counts: Integers
    params: Integers
    sequence: int
    cell_of: dict[tuple[str, str], int]
    views: tuple[RebecView, ...]
    stream_numbers: tuple[int, ...]

    @property
    def row_width(self) -> int:
        """Columns of a message."""
        return int(self.bags.shape[1])

    def streams(self, key: tuple[int, int]) -> NDArray[np.uint64]:
        """Make the random streams of a cell: that of the order of messages, then those of choices.

        Shape (streams, STREAM_WIDTH).
        """
        table = np.zeros((len(self.stream_numbers), STREAM_WIDTH), np.uint64)
        table[:, KEY], table[:, KEY + 1] = key
        table[:, NUMBER] = self.stream_numbers
        return table


def native_model(model: Model, checked: CheckedModel) -> NativeModel:
    """Lay out a model that was built from a checked tree.

    Raises NotNativeError when its step cannot be compiled, a Violation when a constructor fails.
    """
    source = step_source(checked, f"{model.name}.rebeca")
    namespace = load_step(source.text)
    system = model.start()
    capacities = [rebec._bag.capacity for rebec in system.rebecs]
    classes = list(source.cells)
    rebecs = np.zeros((len(system.rebecs), REBEC_WIDTH), np.int64)
    drawn = [_streams_of(checked, each.class_name) for each in checked.instances]
    sizes = [source.cells[each.class_name].size for each in checked.instances]
    rebecs[:, BASE] = _starts(sizes)
    rebecs[:, OWN_CLASS] = [classes.index(each.class_name) for each in checked.instances]
    rebecs[:, CAPACITY] = capacities
    rebecs[:, OWN_PRIORITY] = [rebec._priority for rebec in system.rebecs]
    starts = _starts([len(each) for each in drawn])
    rebecs[:, FIRST_STREAM] = starts + [2 - each.start for each in drawn]  # the first is the order
    rebecs[:, BAG] = _starts(capacities)
    cells, cell_of = _cells(system, checked, source, sum(sizes), rebecs)
    return NativeModel(
        model=model,
        checked=checked,
        source=source,
        step=namespace["step"],
        sites=source.sites,
        rebecs=rebecs,
        servers=_servers(system, checked, source),
        cells=cells,
        bags=_bags(system, checked, source, rebecs),
        counts=np.array([len(rebec._bag) for rebec in system.rebecs], np.int64),
        params=np.array(source.params, np.int64),
        sequence=system.sequence,
        cell_of=cell_of,
        views=_views(checked, source),
        stream_numbers=_stream_numbers(drawn),
    )


def _starts(sizes: list[int]) -> Integers:
    """Give where each part starts when parts of these sizes lie one behind the other."""
    return np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)


def _stream_numbers(drawn: list[range]) -> tuple[int, ...]:
    """Number the streams of rebecs which draw from these."""
    choices = [choice_stream(rebec, site) for rebec, sites in enumerate(drawn) for site in sites]
    return (ORDER_STREAM, *choices)


def _streams_of(checked: CheckedModel, name: str) -> range:
    """Give the streams that a rebec of a class draws from: 1 and on, from 0 if that is used."""
    used = [
        checked.choice_stream(node)
        for server in checked.classes[name].servers
        for node in walk(server.tree)
        if isinstance(node, syntax.Choice)
    ]
    return range(min(used, default=1) and 1, max(used, default=0) + 1)


# --- tables --------------------------------------------------------------------------------------


def _servers(system: System, checked: CheckedModel, source: StepSource) -> Integers:
    most = max((len(checked.classes[name].servers) for name in source.cells), default=0)
    table = np.zeros((len(source.cells), max(most, 1), SERVER_WIDTH), np.int64)
    classes = {
        instance.class_name: type(rebec)
        for instance, rebec in zip(checked.instances, system.rebecs, strict=True)
    }
    for place, name in enumerate(source.cells):
        for server in classes[name].__servers__.values():
            table[place, server.number] = (
                source.servers[name, server.name],
                server.priority,
                server.global_priority,
            )
    return table


def _views(checked: CheckedModel, source: StepSource) -> tuple[RebecView, ...]:
    names = tuple(instance.name for instance in checked.instances)
    views = []
    for instance in checked.instances:
        own = checked.classes[instance.class_name]
        places = source.cells[instance.class_name].places
        views.append(
            RebecView(
                instance.name,
                tuple((each.name, places[each.name]) for each in own.state_variables),
                tuple(
                    (server.name, tuple(each.type for each in server.parameters))
                    for server in own.servers
                ),
                names,
            )
        )
    return tuple(views)


def _cells(
    system: System, checked: CheckedModel, source: StepSource, size: int, rebecs: Integers
) -> tuple[Integers, dict[tuple[str, str], int]]:
    """Give the variables of all rebecs, and the cells of those that are numbers or booleans."""
    cells = np.zeros(size, np.int64)
    cell_of = {}
    for rebec, instance in zip(system.rebecs, checked.instances, strict=True):
        places = source.cells[instance.class_name].places
        symbols = checked.classes[instance.class_name].known_rebecs
        known = zip(symbols, type(rebec).__known_rebecs__, strict=True)
        names = {each.rebeca_name: each.name for each in type(rebec).__state_variables__}
        names |= {symbol.name: declared.name for symbol, declared in known}
        for shown, name in names.items():
            place = places[shown]
            first = int(rebecs[rebec._index, BASE]) + place.offset
            value = flat_cells(getattr(rebec, name), place.type)
            cells[first : first + len(value)] = value
            if isinstance(place.type, PrimitiveType) and place.type not in REAL | {TIMER}:
                cell_of[rebec._name, name] = first
    return cells, cell_of


def _bags(system: System, checked: CheckedModel, source: StepSource, rebecs: Integers) -> Integers:
    widest = max(
        (
            sum(flat_length(each.type) for each in server.parameters)
            for name in source.cells
            for server in checked.classes[name].servers
        ),
        default=0,
    )
    rows = np.zeros((int(rebecs[:, CAPACITY].sum()), slot.ARGUMENTS + widest), np.int64)
    for rebec, instance in zip(system.rebecs, checked.instances, strict=True):
        for place, message in enumerate(rebec._bag):
            server = checked.classes[instance.class_name].servers[message.server.number]
            kinds = [symbol.type for symbol in server.parameters]
            fill_row(rows[int(rebecs[rebec._index, BAG]) + place], rebec, message, kinds)
    return rows


def fill_row(row: Integers, rebec: Rebec, message: BagMessage, kinds: Sequence[Type]) -> None:
    """Write a message to a rebec into a row of a table; `kinds` are the types of its arguments."""
    row[slot.ARRIVAL] = message.arrival
    row[slot.PRIORITY] = message.priority
    row[slot.SEQUENCE] = message.sequence
    row[slot.RECEIVER] = rebec._index
    row[slot.SERVER] = message.server.number
    row[slot.SENDER] = -1 if message.sender is None else message.sender._index
    row[slot.DEADLINE] = slot.NEVER if message.deadline is None else message.deadline
    for value, (column, kind) in zip(message.arguments, columns_of(kinds), strict=True):
        first = slot.ARGUMENTS + column
        row[first : first + flat_length(kind)] = flat_cells(value, kind)


# --- values --------------------------------------------------------------------------------------


def flat_cells(value: Any, kind: Type) -> list[int]:
    """Give the integers that stand for a value."""
    if isinstance(kind, ArrayType):
        return [cell for each in value for cell in flat_cells(each, kind.element)]
    if isinstance(kind, RebecType):
        return [-1 if value is None else value._index]
    if isinstance(value, Since):
        return [value.start]
    if kind == TIMER:
        return [slot.NO_TIME]
    if kind in REAL:
        return [int(np.float64(value).view(np.int64))]
    return [int(value)]


def missed_text(native: NativeModel, message: Integers, time: int) -> str:
    """Tell of a message that was about to be served after its deadline."""
    shown = _message(native, message)
    return f"{shown} with deadline {message[slot.DEADLINE]} is served at time {time}"


def endless_text(native: NativeModel, ctx: Integers, message: Integers) -> str:
    """Tell of a message server that has been in a loop for too long."""
    rebec = native.views[int(message[slot.RECEIVER])]
    place = f"({native.model.name}.rebeca, line {native.sites[int(ctx[slot.SITE])]})"
    return (
        f"{rebec.name}, serving {_message(native, message)}: has not ended after "
        f"{MOST_ROUNDS:,} rounds of loops {place}"
    )


def failure_text(native: NativeModel, ctx: Integers, message: Integers, sends: Integers) -> str:
    """Tell of what failed while a message was served."""
    kind, site, value = int(ctx[slot.FAILED]), int(ctx[slot.SITE]), int(ctx[slot.VALUE])
    if kind == Failure.ASSERTION:
        return str(native.sites[site])
    if kind == Failure.OVERFLOW:
        capacity = native.rebecs[sends[site, slot.RECEIVER], CAPACITY]
        return f"no place for {_message(native, sends[site])} in a queue of {capacity}"
    rebec = native.views[int(message[slot.RECEIVER])]
    if kind == Failure.CAST:
        cast = native.model.instances[value]
        return f"{cast.name} is a {cast.reactive_class.__name__}, not a {native.sites[site]}"
    where = f'method "{rebec.name}.{rebec.servers[int(message[slot.SERVER])][0]}"'
    if kind == Failure.INDEX:
        return f"Array index out of bound: {value}, {where} line {native.sites[site]}"
    if kind == Failure.PAST:
        receiver = native.views[int(sends[site, slot.RECEIVER])]
        server = receiver.servers[int(sends[site, slot.SERVER])][0]
        return f"{receiver.name}.{server}: after({value}) is in the past; use 0 or more, {where}"
    if kind == Failure.UNFIT:
        return f"{value} leaves 32 bits, {where} line {native.sites[site]}"
    if kind == Failure.NULL:
        return f"message to null, {where}"
    if kind == Failure.DELAY:
        return f"a delay of {value} time units; use 0 or more, {where}"
    return f"{_arithmetic(kind, value)}, {where}"


def _message(native: NativeModel, row: Integers) -> str:
    view = native.views[int(row[slot.RECEIVER])]
    number = int(row[slot.SERVER])
    arguments = view.arguments(number, row[slot.ARGUMENTS :].tolist())
    return f"{view.servers[number][0]}({', '.join(map(str, arguments))})"


def _arithmetic(kind: int, value: int) -> str:
    """Let Python say what is wrong, which differs between its versions."""
    try:
        if kind == Failure.QUOTIENT:
            arithmetic.quotient(1, 0)
        elif kind == Failure.REMAINDER:
            arithmetic.remainder(1, 0)
        elif kind == Failure.TRUNCATION:
            arithmetic.truncate(float(np.int64(value).view(np.float64)))
    except ArithmeticError as error:
        return str(error)
    raise AssertionError(f"no failure of arithmetic: {kind}")
