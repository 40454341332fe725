from typing import Any, NamedTuple

import pytest
from numpy.typing import NDArray

from rebecsim.native import Flags, Integers, Table, arrays
from rebecsim.native.arrays import ArrayType, Fields, Leaf, signature_of

ARRAYS = {
    name: hint
    for name, hint in vars(arrays).items()
    if any(isinstance(each, ArrayType) for each in getattr(hint, "__metadata__", ()))
}


class _Pair(NamedTuple):
    one: Integers
    other: Table


def _function(pair: _Pair, flags: Flags, count: int) -> None: ...


def test_annotations_become_what_functions_are_compiled_for() -> None:
    signature = signature_of(_function)

    parts = (Leaf("int64", 1), Leaf("int64", 2))
    assert signature.arguments == (Fields(_Pair, parts), Leaf("bool", 1), Leaf("int64"))
    assert signature.result is None


def test_a_text_says_the_same_as_annotations() -> None:
    signature = signature_of(_function, "float64(int64, boolean, uint64[:, ::1], float64[::1])")

    arguments = Leaf("int64"), Leaf("bool"), Leaf("uint64", 2), Leaf("float64", 1)
    assert signature == (Leaf("float64"), arguments)


@pytest.mark.parametrize("name", ARRAYS)
def test_compiler_and_type_checker_are_told_the_same_elements(name: str) -> None:
    hint: Any = ARRAYS[name]
    (kind,) = hint.__metadata__

    assert hint.__origin__ == NDArray[kind.element]


def test_every_array_is_looked_at() -> None:
    assert {"Integers", "Table", "Cube", "Streams", "Flags"} <= ARRAYS.keys()
