from typing import Any, NamedTuple

import pytest
from numba import types
from numpy.typing import NDArray

from rebecsim.native import Flags, Integers, Table, arrays
from rebecsim.native.arrays import ArrayType, signature_of

ARRAYS = {
    name: hint
    for name, hint in vars(arrays).items()
    if any(isinstance(each, ArrayType) for each in getattr(hint, "__metadata__", ()))
}


class _Pair(NamedTuple):
    one: Integers
    other: Table


def _function(pair: _Pair, flags: Flags, count: int) -> None: ...


def test_annotations_become_the_types_that_numba_compiles_for() -> None:
    signature = signature_of(_function)

    pair, flags, count = signature.args
    assert list(pair.types) == [types.int64[::1], types.int64[:, ::1]]
    assert pair.instance_class is _Pair
    assert (signature.return_type, flags, count) == (types.void, types.boolean[::1], types.int64)


@pytest.mark.parametrize("name", ARRAYS)
def test_compiler_and_type_checker_are_told_the_same_elements(name: str) -> None:
    hint: Any = ARRAYS[name]
    (kind,) = hint.__metadata__

    assert hint.__origin__ == NDArray[kind.element]


def test_every_array_is_looked_at() -> None:
    assert {"Integers", "Table", "Cube", "Streams", "Flags"} <= ARRAYS.keys()
