"""Describe violations of the native engine in the words of the Python engine."""

from __future__ import annotations

import numpy as np

from rebecsim.actors import kinds
from rebecsim.native import columns as slot
from rebecsim.native.codes import Failure
from rebecsim.native.layout import CAPACITY, Integers, NativeModel
from rebecsim.native.operations import MOST_ROUNDS


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
        return f"{cast.name} is a {cast.reactive_class.__name__}, no {native.sites[site]}"
    where = f'method "{rebec.name}.{rebec.servers[int(message[slot.SERVER])][0]}"'
    if kind == Failure.INDEX:
        return f"Array index out of bound: {value}, {where} line {native.sites[site]}"
    if kind == Failure.PAST:
        receiver = native.views[int(sends[site, slot.RECEIVER])]
        server = receiver.servers[int(sends[site, slot.SERVER])][0]
        return f"{receiver.name}.{server}: after({value}) lies in the past, {where}"
    if kind == Failure.NULL:
        return f"message to null, {where}"
    if kind == Failure.DELAY:
        return f"a delay of {value} time units: time does not go back, {where}"
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
            kinds.quotient(1, 0)
        elif kind == Failure.REMAINDER:
            kinds.remainder(1, 0)
        elif kind == Failure.TRUNCATION:
            kinds.truncate(float(np.int64(value).view(np.float64)))
    except ArithmeticError as error:
        return str(error)
    raise AssertionError(f"no failure of arithmetic: {kind}")
