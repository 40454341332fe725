"""Where Numba compiles otherwise here than by itself.

Both ways reach into parts of Numba that are not meant for it, and hold while a block runs, under
Numba's lock. The tests of the native engine find out when a version of Numba has others.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


@contextmanager
def plain_indices() -> Iterator[None]:
    """Compile indices of arrays as they are.

    Otherwise Numba has a negative index count from the end, as in Python, and adds to each access
    what finds out; half of the instructions of a loop over small arrays are for that.
    """
    from numba.core import types
    from numba.np import arrayobj

    def index(context: Any, builder: Any, kind: Any, value: Any, size: Any) -> Any:
        return context.cast(builder, value, kind, types.intp)

    usual = arrayobj.fix_integer_index
    arrayobj.fix_integer_index = index
    try:
        yield
    finally:
        arrayobj.fix_integer_index = usual


@contextmanager
def linked_only(inner: bool) -> Iterator[None]:
    """Compile a function that is `inner` so far as to be linked into those that call it.

    Optimising it and making machine code of it is left to them: they do it in any case.
    """
    from numba.core.registry import cpu_target

    codegen = cpu_target.target_context.codegen()
    around = codegen._library_class, codegen.set_env
    codegen._library_class, codegen.set_env = _linked() if inner else _executed(codegen)
    try:
        yield
    finally:
        codegen._library_class, codegen.set_env = around


def _executed(codegen: Any) -> tuple[Any, Any]:
    """Give what Numba has for functions that are called."""
    return type(codegen)._library_class, type(codegen).set_env.__get__(codegen)


@cache
def _linked() -> tuple[Any, Any]:
    """Give a library of code that is not executed, and what sets the Python objects that it uses.

    That is nothing: compiled functions of this program use none.
    """
    from numba.core.codegen import JITCodeLibrary

    usual: Any = JITCodeLibrary

    class Library(usual):  # type: ignore[misc]
        def _optimize_final_module(self) -> None:
            pass

        def _finalize_final_module(self) -> None:
            self._finalize_dynamic_globals()
            self._finalized = True

        def serialize_using_object_code(self) -> Any:
            return self.serialize_using_bitcode()

    return Library, lambda name, environment: None
