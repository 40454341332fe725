"""The arrays that compiled functions take, and what Numba makes of annotations.

Arrays are contiguous; those of one kind differ in what they hold and in their dimensions. Arrays
that belong together are the fields of a named tuple.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import NoneType
from typing import Annotated, Any, NamedTuple, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from rebecsim.generate.step import STEP_SIGNATURE


class ArrayType(NamedTuple):
    """What an array holds, and how many dimensions it has.

    It stands beside NumPy's own type, whose insides differ between versions of NumPy.
    """

    element: type[np.generic]
    dimensions: int


Integers = Annotated[NDArray[np.int64], ArrayType(np.int64, 1)]
Table = Annotated[NDArray[np.int64], ArrayType(np.int64, 2)]
Cube = Annotated[NDArray[np.int64], ArrayType(np.int64, 3)]
ShortTable = Annotated[NDArray[np.int32], ArrayType(np.int32, 2)]
Numbers = Annotated[NDArray[np.uint32], ArrayType(np.uint32, 1)]
NumberTable = Annotated[NDArray[np.uint32], ArrayType(np.uint32, 2)]
Narrow = Annotated[NDArray[np.int32], ArrayType(np.int32, 1)]
Bytes = Annotated[NDArray[np.uint8], ArrayType(np.uint8, 1)]
Streams = Annotated[NDArray[np.uint64], ArrayType(np.uint64, 2)]
Flags = Annotated[NDArray[np.bool_], ArrayType(np.bool_, 1)]

Step = Annotated[Callable[..., None], STEP_SIGNATURE]
"""The compiled step of a model."""


def signature_of(function: Callable[..., Any]) -> Any:
    """Give Numba's signature for the annotations of a function."""
    hints = get_type_hints(function, include_extras=True)
    result = hints.pop("return")
    return _numba_type(result)(*map(_numba_type, hints.values()))


@cache
def _numba_type(hint: Any) -> Any:
    """Give Numba's type for an annotation: of a union, that of its first member."""
    from numba import core, from_dtype

    sigutils: Any = core.sigutils
    types: Any = core.types
    if hint is NoneType:
        return types.void
    if hasattr(hint, "_fields"):
        fields = get_type_hints(hint, include_extras=True).values()
        return types.BaseTuple.from_types([_numba_type(each) for each in fields], hint)
    kind, *noted = get_args(hint) or (hint,)
    if noted == [STEP_SIGNATURE]:
        arguments, result = sigutils.normalize_signature(STEP_SIGNATURE)
        return types.FunctionType(result(*arguments))
    if hasattr(hint, "__metadata__"):
        ((element, dimensions),) = noted
        return types.Array(from_dtype(np.dtype(element)), dimensions, "C")
    return from_dtype(np.dtype(kind))
