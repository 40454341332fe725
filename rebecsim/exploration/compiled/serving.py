"""Let a compiled step serve messages in the compiled search: parts of states as integers.

The meaning of a model stays where it is: the Python engine works out what goes wrong, and messages
that were never sent before; everything else is done here. Symmetries of the system are arrays too,
grouped by what they do to a part of a state.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence, Set as AbstractSet
from typing import Any

import numpy as np

from rebecsim.exploration.reduction import SymmetricSystem
from rebecsim.exploration.states.rebec_states import NEVER, Reference, Waiting
from rebecsim.exploration.states.runner import Runner
from rebecsim.exploration.states.transitions import TransitionSystem
from rebecsim.exploration.symmetry import NameImages, Symmetry
from rebecsim.generate.cells import Place, flat_length
from rebecsim.generate.step import NotNativeError
from rebecsim.lang.checked import CheckedModel, Type
from rebecsim.native import codes, engines
from rebecsim.native.arrays import Integers
from rebecsim.native.cache import is_ready, prepare
from rebecsim.native.layout import (
    BASE,
    OWN_CLASS,
    NativeModel,
    fill_row,
    flat_cells,
    native_model,
    shown_value,
)
from rebecsim.native.loops.serving import (
    CELLS_CLOCK,
    CELLS_FIRST,
    CELLS_OWNER,
    OWN_CELLS,
    OWN_EMPTY_BAG,
    OWN_ROOM,
    OWN_WIDTH,
    Known,
    ServedModel,
    enter_row,
    enter_rows,
    expand_and_serve,
    find_row,
)
from rebecsim.native.loops.tables import ABSENT


class ServingPlan:
    """When to let a compiled step serve messages."""

    def __init__(self, system: TransitionSystem, checked: CheckedModel) -> None:
        self._system = system
        self._checked = checked
        self._native: NativeModel | None = None
        self.next = engines.SERVING_LOADS
        """The messages that Python serves before this is decided, or looked at again."""

    def due(self, served: int) -> Serving | None:
        """Give what serves messages from now on, if Python has served enough of them."""
        if served < self.next:
            return None
        self.next = NEVER  # unless it is only too soon to compile
        try:
            self._native = self._native or native_model(self._system.model, self._checked)
        except NotNativeError:
            return None
        functions = self._native.step, expand_and_serve
        if served < engines.SERVING_COMPILES and not all(is_ready(each) for each in functions):
            self.next = engines.SERVING_COMPILES
            return None
        try:
            prepare(*functions)
        except Exception as error:  # whatever a compiler raises: Python can go on as before
            text = f"the message servers run in Python: compiling gave {type(error).__name__}"
            warnings.warn(f"{text}: {error}", RuntimeWarning, stacklevel=2)
            return None
        return Serving(self._native, self._system.runner)


class Serving:
    """Inner states and messages as integers.

    Attributes:
        native: the model that was compiled.
        contents, content_table, messages, message_table: see `rebecsim.native.loops.serving.Known`.
        own, arities: see `rebecsim.native.loops.serving.ServedModel`.
    """

    def __init__(self, native: NativeModel, runner: Runner) -> None:
        self.native = native
        self._runner = runner
        self._bases: list[int] = native.rebecs[:, BASE].tolist()
        instances = native.checked.instances
        cells = [native.source.cells[each.class_name] for each in instances]
        self._sizes = [each.size for each in cells]
        self._places = [_places(runner, owner, each.places) for owner, each in enumerate(cells)]
        width = CELLS_FIRST + max(self._sizes)
        self.contents: Integers = np.zeros((64, width), np.int64)
        self.content_table: Integers = np.full(256, ABSENT, np.int64)
        self.messages: Integers = np.zeros((64, native.row_width), np.int64)
        self.message_table: Integers = np.full(256, ABSENT, np.int64)
        self._wanted = np.zeros((1, width), np.int64)
        self.own: Integers = np.zeros((len(instances), OWN_WIDTH), np.int64)
        self.own[:, OWN_CELLS] = self._sizes
        self.own[:, OWN_ROOM] = [min(each, NEVER) - 1 for each in runner.capacities]
        self.arities: Integers = np.zeros(native.servers.shape[:2], np.int64)
        for own_class, view in zip(native.rebecs[:, OWN_CLASS], native.views, strict=True):
            self.arities[own_class, : len(view.servers)] = [
                sum(map(flat_length, kinds)) for _, kinds in view.servers
            ]

    def model(self) -> ServedModel:
        """Give the model for compiled code."""
        native = self.native
        return ServedModel(
            native.rebecs,
            native.servers,
            native.params,
            native.cells.copy(),
            self.own,
            self.arities,
        )

    def known(self, counts: Integers, inner_counts: Integers) -> Known:
        """Give the tables for compiled code, as long as none grows."""
        return Known(
            counts,
            inner_counts,
            self.contents,
            self.content_table,
            self.messages,
            self.message_table,
        )

    def set_empty_bag(self, owner: int, row: int) -> None:
        """Say which row the empty bag of a rebec is."""
        self.own[owner, OWN_EMPTY_BAG] = row

    # --- inner states --------------------------------------------------------------------------

    def find(self, owner: int, variables: Sequence[Any], clock: int) -> int:
        """Give the row of an inner state, ABSENT if there is none."""
        self._fill(self._wanted[0], owner, variables, clock)
        return int(find_row(self.content_table, self.contents, self._wanted))

    def enter(self, row: int, owner: int, variables: Sequence[Any], clock: int) -> None:
        """Enter an inner state that is not there yet."""
        self.make_room(row + 1)
        self._fill(self.contents[row], owner, variables, clock)
        enter_row(self.content_table, self.contents, row)

    def make_room(self, rows: int) -> None:
        """Make room for inner states of so many rows."""
        self.contents = _with_room(self.contents, rows)
        if 2 * rows > len(self.content_table):
            held = self.content_table[self.content_table != ABSENT]
            self.content_table = _table_of(self.contents, np.sort(held), 2 * len(self.contents))

    def inner_at(self, row: int) -> tuple[int, tuple[Any, ...], int]:
        """Give the rebec, the variables and the clock of an inner state."""
        contents = self.contents[row].tolist()
        owner = contents[CELLS_OWNER]
        variables = tuple(
            self._encoded(contents[CELLS_FIRST + place.offset :], place.type)
            for place in self._places[owner]
        )
        return owner, variables, contents[CELLS_CLOCK]

    def _fill(self, row: Integers, owner: int, variables: Sequence[Any], clock: int) -> None:
        base, size = self._bases[owner], self._sizes[owner]
        cells = self.native.cells[base : base + size].tolist()  # for the known rebecs
        for place, value in zip(self._places[owner], variables, strict=True):
            flat = flat_cells(self._runner.values.decode(value), place.type)
            cells[place.offset : place.offset + len(flat)] = flat
        row[CELLS_OWNER] = owner
        row[CELLS_CLOCK] = clock
        row[CELLS_FIRST : CELLS_FIRST + size] = cells
        row[CELLS_FIRST + size :] = 0

    def _encoded(self, cells: Sequence[int], kind: Type) -> Any:
        return self._runner.values.encode(shown_value(cells, kind, self._runner.rebecs))

    # --- messages ------------------------------------------------------------------------------

    def enter_message(self, number: int, receiver: int, waiting: Waiting | None) -> None:
        """Enter a message; None: one that is none for a step."""
        self.messages = _with_room(self.messages, number + 1)
        row = self.messages[number]
        row[:] = 0
        row[codes.RECEIVER] = ABSENT
        if waiting is None:
            return
        message = self._runner.decode(receiver, waiting, 0)
        kinds = self.native.views[receiver].servers[waiting.number][1]
        fill_row(row, self._runner.rebecs[receiver], message, kinds)
        if 2 * (number + 1) > len(self.message_table):
            held = self.message_table[self.message_table != ABSENT]
            self.message_table = _table_of(self.messages, np.sort(held), 4 * len(self.messages))
        enter_row(self.message_table, self.messages, number)


def _places(runner: Runner, owner: int, places: dict[str, Place]) -> list[Place]:
    """Give where the variables of a rebec lie, in their order in its states."""
    declared = {
        each.name: each.rebeca_name for each in type(runner.rebecs[owner]).__state_variables__
    }
    return [places[declared[name]] for name in runner.names[owner]]


def _with_room(rows: Integers, needed: int) -> Integers:
    if needed <= len(rows):
        return rows
    larger = np.zeros((max(needed, 2 * len(rows)), rows.shape[1]), np.int64)
    larger[: len(rows)] = rows
    return larger


def _table_of(contents: Integers, rows: Integers, places: int) -> Integers:
    """Make a table of so many places at least, a power of two."""
    table = np.full(1 << max(places - 1, 1).bit_length(), ABSENT, np.int64)
    enter_rows(table, contents, rows)
    return table


_AT_ONCE = 128
"""Symmetries of which images are computed together; of more, most are never needed."""


class SymmetryArrays:
    """A group of symmetries.

    Attributes:
        origins: whose image each rebec is; shape (symmetries, rebecs).
    """

    def __init__(self, system: SymmetricSystem) -> None:
        self._group = system.group
        self._images = np.array([each.images for each in system.group], np.int64)
        self.origins = np.argsort(self._images, axis=1)
        numbers: dict[NameImages, int] = {}
        self._labels = np.array(
            [
                [numbers.setdefault(own, len(numbers)) for own in each.labels]
                for each in system.group
            ]
        )

    def around(
        self, asked: int, owner: int, rebecs: AbstractSet[int]
    ) -> tuple[Integers, Integers, list[Symmetry]]:
        """Give some symmetries, one of them asked for, by what they do with a part of one rebec.

        That is what becomes of the names of its class, of itself and of these rebecs.

        Gives their numbers, for each of them a place in the list that comes last, and that list:
        a symmetry for each thing that is done.
        """
        first = asked - asked % _AT_ONCE
        part = slice(first, first + _AT_ONCE)
        images = self._images[part][:, sorted(rebecs | {owner})]
        done = np.column_stack([self._labels[part, owner], images])
        places: dict[bytes, int] = {}
        alike = [places.setdefault(each.tobytes(), len(places)) for each in done]
        _, chosen = np.unique(alike, return_index=True)
        members = np.arange(first, first + len(images), dtype=np.int64)
        renamings = [self._group[first + each] for each in chosen.tolist()]
        return members, np.array(alike, np.int64), renamings


def references_in(values: Sequence[Any]) -> set[int]:
    """Give the positions of the rebecs in values, however deep in them."""
    found = set()
    for value in values:
        if isinstance(value, Reference):
            found.add(value.index)
        elif isinstance(value, tuple):
            found |= references_in(value)
    return found
