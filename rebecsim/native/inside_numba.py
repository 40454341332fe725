"""All uses of Numba's private parts, and the switch that turns them off.

With `REBECSIM_PLAIN_NUMBA=1` in the environment nothing here is used: compiled functions are those
of `numba.njit` then, and everything runs with the same results, slower. So it is, too, with a
version of Numba that is newer than the tests know and has other parts: `is_used` tries them out.

* `LazyDispatcher`: a function is compiled for one signature, or read from disk, when it is first
  used. Without it Numba compiles for whatever types come.
* `LazyDispatcher.entry`: a function is called without finding out the types of its arguments, of
  which it takes no others. Without it a call takes ten microseconds more.
* `packed_result`, `rebuilt_result`, `processor`, `definition_of`: machine code is kept on disk and
  found by its content. Without them each process compiles again what it uses.
* `linked_only`: functions that only compiled ones call are not made machine code of by themselves.
  Without it compiling takes about twice as long.
* `plain_indices`, and `_nrt` for functions that make no arrays: indices are used as they are, and
  references to arrays are not counted. Without them loops are slower.

What changes Numba itself holds while a block runs, under Numba's lock.
"""

from __future__ import annotations

import os
import pickle
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from types import FunctionType
from typing import Any, cast

TESTED = (0, 68)
"""The newest version of Numba whose parts are known to be those that are used here."""


@cache
def is_used() -> bool:
    """Tell whether the parts of Numba are used, and warn where they are not what they were."""
    if os.environ.get("REBECSIM_PLAIN_NUMBA", "0") not in ("", "0"):
        return False
    import numba

    if tuple(map(int, numba.__version__.split(".")[:2])) <= TESTED:
        return True
    try:
        _try_out()
    except Exception as error:  # whatever other parts may raise
        newest = ".".join(map(str, TESTED))
        warnings.warn(
            f"rebecsim does not know Numba {numba.__version__} ({type(error).__name__}: {error}) "
            "and compiles again in every run. For quick starts: "
            f"pip install 'numba=={newest}.*'",
            RuntimeWarning,
            stacklevel=2,
        )
        return False
    return True


class LazyDispatcher(ABC):
    """Numba's dispatcher of a function, which is told what to compile.

    Numba compiles a dispatcher for whatever types it is first called with. Here the two doors to
    that, a call from Python and a call in another compiled function, lead to `prepare` instead.
    """

    def __init__(self, function: FunctionType, options: dict[str, Any], borrows: bool) -> None:
        import numba

        self.function = function
        self._is_inner = options["no_cfunc_wrapper"]
        njit: Any = numba.njit
        self.dispatcher: Any = njit(**options, _nrt=not borrows)(function)
        if options["no_cpython_wrapper"]:  # nothing that Python could call
            self.dispatcher.add_overload = self._add_overload
        self._template = self.dispatcher.get_call_template
        self.dispatcher.get_call_template = self._get_call_template
        self.dispatcher._compile_for_args = self._compile_for_args
        self.dispatcher.get_compile_result = self._get_compile_result
        self.dispatcher.made = self

    @property
    @abstractmethod
    def signature(self) -> Any:
        """What the function is compiled for."""

    @abstractmethod
    def prepare(self, *, wait: bool = True) -> bool:
        """Load or compile the function, unless that has been done."""

    def entry(self) -> Any:
        """Give what the dispatcher calls when it has found out the types of the arguments."""
        (result,) = self.dispatcher.overloads.values()
        return result.entry_point

    def adopt(self, result: Any) -> None:
        """Use what an equal function was compiled to."""
        self.dispatcher.add_overload(result)
        self.dispatcher.disable_compile()

    def compile(self, kept: Any) -> None:
        """Compile the function, unless that is `kept`, an object with Numba's methods of caches."""
        self.dispatcher._cache = kept
        with plain_indices(), linked_only(self._is_inner):
            self.dispatcher.compile(self.signature)
        self.dispatcher.disable_compile()

    def _get_call_template(self, args: Any, kws: Any) -> Any:
        self.prepare()
        return self._template(args, kws)

    def _add_overload(self, result: Any) -> None:
        self.dispatcher.overloads[tuple(result.signature.args)] = result

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        if self.dispatcher.overloads or "add_overload" in vars(self.dispatcher):
            raise TypeError(f"{self.function.__name__} is compiled for {self.signature} only")
        self.prepare()
        return self.dispatcher

    def _get_compile_result(self, signature: Any) -> Any:
        self.prepare()
        return self.dispatcher.overloads[tuple(signature.args)]


class _Kept:
    """Keeps what a function was compiled to, as it is kept on disk."""

    payload = b""

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        return rebuilt_result(self.payload, target_context) if self.payload else None

    def save_overload(self, signature: Any, result: Any) -> None:
        self.payload = packed_result(result)


class _Trial(LazyDispatcher):
    """A function that is compiled to see whether this can be done."""

    signature = "int64(int64[::1], int64)"
    kept = _Kept()

    def prepare(self, *, wait: bool = True) -> bool:
        self.compile(self.kept)
        return True


def _next_number(array: Any, place: int) -> Any:
    return array[place] + 1


def _try_out() -> None:
    """Compile a function, keep it, and read it again. Raises whatever other parts may raise."""
    import numpy as np

    options = {"no_cpython_wrapper": False, "no_cfunc_wrapper": False}
    numbers = np.arange(4)
    for _ in ("compiled", "read"):
        trial = _Trial(cast("FunctionType", _next_number), options, borrows=True)
        trial.prepare()
        if trial.entry()(numbers, 2) != 3:
            raise RuntimeError("a compiled function gives another result")
    processor()


def compiler_lock() -> AbstractContextManager[Any]:
    """Give the lock under which Numba compiles."""
    from numba.core.compiler_lock import global_compiler_lock

    lock: AbstractContextManager[Any] = global_compiler_lock
    return lock


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


# --- results -------------------------------------------------------------------------------------


def packed_result(result: Any) -> bytes:
    """Write down what Numba has made of a function."""
    from numba.core import serialize

    dumps: Any = serialize.dumps
    written: bytes = dumps((_symbols(result), result._reduce()))
    return written


def rebuilt_result(payload: bytes, target_context: Any) -> Any:
    """Give what was written down. Raises whatever reading something else may raise."""
    from numba.core import compiler

    rebuild: Any = compiler.CompileResult._rebuild
    # Written by this program, to a directory of the user's own: see `kept_files`.
    symbols, parts = pickle.loads(payload)  # noqa: S301
    _provide(symbols, target_context)
    return rebuild(target_context, *parts)


def _symbols(result: Any) -> list[str]:
    """Name what machine code calls outside itself."""
    functions = result.library._final_module.functions
    names = {each.name for each in functions if each.is_declaration}
    return sorted(name for name in names if not name.startswith("llvm."))


def _provide(symbols: list[str], target_context: Any) -> None:
    """Make sure that these can be found; LLVM ends the process if one cannot.

    Mostly it is Numba's memory management alone. Loading all that Numba can compile calls to takes
    half a second, so that is done only where something is missing.
    """
    from llvmlite import binding
    from numba.core.runtime.nrt import rtsys

    rtsys.initialize(target_context)
    if any(binding.address_of_symbol(name) is None for name in symbols):
        target_context.refresh()


def processor() -> str:
    """Name the processor that machine code is for."""
    from numba.core.registry import cpu_target

    return repr(cpu_target.target_context.codegen().magic_tuple())


def definition_of(value: object) -> FunctionType | None:
    """Give the function that an intrinsic was made of, None for anything else."""
    definition = getattr(value, "_defn", None)
    return definition if isinstance(definition, FunctionType) else None
