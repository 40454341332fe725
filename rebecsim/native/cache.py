"""Keep compiled functions on disk between runs.

A function of integers, floats and arrays is compiled for one signature when it is first used, and
its object code is kept in the user's cache directory:

    from rebecsim.native.arrays import Integers
    from rebecsim.native.cache import compiled

    @compiled()
    def total(cells: Integers, count: int) -> int:
        ...

* Call it from Python, or from another compiled function. Object code is made for what Python calls;
  what that calls in turn is a part of it. Code from disk is loaded without Numba.
* One signature for each function; arguments that do not fit are a TypeError.
* Without Numba, or with `NUMBA_DISABLE_JIT=1`, the function stays plain Python; integers of NumPy
  wrap silently.
* Arrays are indexed by as many integers as they have dimensions, or fewer, and have a `shape` and
  `len`. `rebecsim.native.arrays.room` makes one, `call` calls a step.
* Division by zero gives 0 or an infinity: compiled code raises nothing. Indices are not checked and
  must not be negative, which is not from the end of the array either.

An entry is found by its content: the bytecode of the function, its signature, the constants and
functions it refers to, theirs in turn, and the versions of Python, Numba, LLVM and the processor.
So an edited function is never mistaken for its former self, and equal functions of different
models share one entry. What `rebecsim.trust` does not trust is compiled again. Processes that
compile the same function at the same time lock it, so that mostly only one of them does. Where the
directory cannot be used, functions are compiled for this process only.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import EnumType
from functools import cache, cached_property
from importlib import metadata
from operator import index
from pathlib import Path
from threading import RLock
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, TypeVar, cast

from rebecsim.extras import is_installed
from rebecsim.native.arrays import Fields, Kind, Signature, signature_of
from rebecsim.trust import COMPILED, kept_folder, read_kept, write_kept

if sys.platform != "win32":
    import fcntl

_MARK = b"rebecsim object code\n"

Function = TypeVar("Function", bound=Callable[..., Any])


# --- what ----------------------------------------------------------------------------------------


@cache
def is_plain() -> bool:
    """Whether functions are left as plain Python: without Numba, or with `NUMBA_DISABLE_JIT=1`."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0") or not is_installed("numba")


def compiled(signature: str = "", *, inline: bool = False) -> Callable[[Function], Function]:
    """Decorate a function that is compiled when used, for what its annotations say.

    Generated functions have a `signature` in Numba's notation in their place. One that is `inline`
    becomes a part of those that call it.
    """

    def decorate(function: Function) -> Function:
        if is_plain():
            return function
        assert isinstance(function, FunctionType)
        return cast(Function, _Compiled(function, signature, inline))

    return decorate


def is_ready(function: Callable[..., Any]) -> bool:
    """Whether a compiled function needs no compiling any more: it was used, or lies on disk."""
    return not isinstance(function, _Compiled) or function.is_ready()


def prepare(*functions: Callable[..., Any]) -> None:
    """Load or compile functions now, those first that no other process is compiling at the moment.

    Raises what Numba raises when it cannot compile one.
    """
    wanted = [each for each in functions if isinstance(each, _Compiled)]
    late = [each for each in wanted if not each.prepare(wait=False)]
    for each in late:
        each.prepare()


def entry_of(function: Function) -> Function:
    """Give a compiled function to be called often, mostly with the same arrays.

    It keeps the arguments of its last call.
    """
    if not isinstance(function, _Compiled):
        return function
    function.prepare()
    whole, run = Fields(tuple, function.signature.arguments), function.run
    words: Any = (ctypes.c_int64 * _size(whole))()
    address = ctypes.addressof(words)
    put = _keeper(whole, words, 0)

    def call(*arguments: Any) -> Any:
        put(arguments)
        return run(address)

    return cast(Function, call)


def _keeper(kinds: Fields, words: Any, place: int) -> Callable[[Any], None]:
    """Give what writes values to words, those only that are not the same as before."""
    count = len(kinds.parts)
    steps: list[tuple[Kind, int, int, Callable[[Any], None] | None]] = []
    for kind in kinds.parts:
        after = place + _size(kind)
        inner = _keeper(kind, words, place) if isinstance(kind, Fields) else None
        steps.append((kind, place, after, inner))
        place = after
    kept: list[Any] = [None] * count

    def put(values: Any) -> None:
        if len(values) != count:
            raise TypeError(f"{count} values are expected")
        for number, value in enumerate(values):
            if kept[number] is not value:
                kind, begin, after, inner = steps[number]
                if inner is None:
                    words[begin:after] = _words(value, kind)
                else:
                    inner(value)
                kept[number] = value

    return put


_addresses: dict[str, int] = {}  # of what is loaded in this process, by digest
_making = RLock()


class _Compiled:
    """A function with its one signature."""

    part: Any = None
    """What stands for it in functions that Numba compiles, once it did that."""

    code: bytes | None = None
    """LLVM's code of it, once `part` is there."""

    address = 0
    """Where the object code is, once it is loaded."""

    def __init__(self, function: FunctionType, signature: str, inline: bool) -> None:
        self.function = function
        self.inline = inline
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self._text = signature

    @cached_property
    def digest(self) -> str:
        """What the function is found by on disk."""
        return _digest(self)

    @cached_property
    def symbol(self) -> str:
        """What the function is called in LLVM's code."""
        return f"rebecsim_{self.digest}"

    @cached_property
    def signature(self) -> Signature:
        """What the function is compiled for."""
        return signature_of(self.function, self._text)

    def referred(self) -> list[tuple[str, Any]]:
        """Give the globals, and variables around it, that the function's code names."""
        names, found = set(_names(self.function.__code__)), self.function.__globals__
        cells = zip(
            self.function.__code__.co_freevars, self.function.__closure__ or (), strict=True
        )
        inner = [(name, each.cell_contents) for name, each in cells]
        return [(name, found[name]) for name in sorted(names & found.keys())] + inner

    @cached_property
    def run(self) -> Callable[[int], Any]:
        """What takes the address of the words of the arguments."""
        result = self.signature.result
        kinds: dict[str, Any] = {"bool": ctypes.c_bool, "float64": ctypes.c_double}
        found = None if result is None else kinds.get(str(result[0]), ctypes.c_int64)
        return ctypes.CFUNCTYPE(found, ctypes.c_int64)(self.address)

    def __call__(self, *arguments: Any) -> Any:
        if not self.address:
            self.prepare()
        kinds = self.signature.arguments
        if len(arguments) != len(kinds):
            raise TypeError(f"{self.__name__} takes {len(kinds)} arguments")
        pairs = zip(arguments, kinds, strict=True)
        words = [word for value, kind in pairs for word in _words(value, kind)]
        array = (ctypes.c_int64 * len(words))(*words)
        return self.run(ctypes.addressof(array))

    def is_ready(self) -> bool:
        """Whether there is object code already, in this process or on disk."""
        if self.address:
            return True
        return (
            self.digest in _addresses or _read(_file_name(self.__name__, self.digest)) is not None
        )

    def prepare(self, *, wait: bool = True) -> bool:
        """Load or compile the function, unless that has been done.

        False: not to `wait` was asked for, and another process is compiling it.
        """
        if self.address:
            return True
        file = _file_name(self.__name__, self.digest)
        # In this order, or a thread that compiles could wait for one that waits for it.
        with _making, _only_one(file, wait=wait) as is_mine:
            if is_mine:
                self.address = _addresses.get(self.digest) or self._load_or_make(file)
                _addresses[self.digest] = self.address
        return is_mine

    def kept_code(self) -> bytes | None:
        """Give LLVM's code of the function from disk."""
        return _read(_file_name(f"{self.__name__}-part", self.digest))

    def keep_code(self, code: bytes) -> None:
        """Keep LLVM's code of the function, for other functions that call it."""
        _write(_file_name(f"{self.__name__}-part", self.digest), code)

    def _load_or_make(self, file: str) -> int:
        from rebecsim.native.machine import loaded

        name = f"entry_{self.digest}"
        code = _read(file)
        if code is not None:
            with suppress(LookupError, RuntimeError):
                return loaded(code, name)
        from rebecsim.native.compiler import object_code

        code = object_code(self, name)
        _write(file, code)
        return loaded(code, name)


@cache
def _dtype(element: str) -> Any:
    import numpy as np

    return np.dtype(element)


def _size(kind: Kind) -> int:
    """Give how many words an argument takes."""
    return sum(map(_size, kind.parts)) if isinstance(kind, Fields) else 1 + kind.dimensions


def _words(value: Any, kind: Kind) -> list[int]:
    """Give an argument as words: address and shape of an array, the bits of a float.

    Raises TypeError.
    """
    if isinstance(kind, Fields):
        pairs = zip(value, kind.parts, strict=True)
        return [word for part, own in pairs for word in _words(part, own)]
    if kind.dimensions:
        if getattr(value, "dtype", None) != _dtype(kind.element) or value.ndim != kind.dimensions:
            raise TypeError(f"not an array of {kind.element} with {kind.dimensions} dimensions")
        # Raises TypeError for an array that is not contiguous, or must not be written to.
        first = ctypes.addressof(ctypes.c_char.from_buffer(value)) if value.size else 0
        return [first, *value.shape]
    if kind.element == "step":
        value.prepare()
        return [value.address]
    if kind.element == "float64":
        return [*struct.unpack("q", struct.pack("d", value))]
    return [index(value)]


# --- files ---------------------------------------------------------------------------------------


def _file_name(name: str, digest: str) -> str:
    return f"{name}-{digest[:32]}{COMPILED}"


def _read(file: str) -> bytes | None:
    folder = kept_folder(_folder_name())
    return None if folder is None else read_kept(folder / file, _MARK)


def _write(file: str, payload: bytes) -> None:
    folder = kept_folder(_folder_name(), make=True)
    if folder is not None:  # else the function is compiled again next time
        write_kept(folder / file, _MARK, payload)


@contextmanager
def _only_one(file: str, *, wait: bool) -> Iterator[bool]:
    """Be the only process that makes a file of the cache while the block runs.

    False: not to `wait` was asked for, and another process makes it. Whatever is in the way of
    locking only means that more than one may.
    """
    lock = None
    if sys.platform != "win32":
        folder = kept_folder(_folder_name(), make=True)
        if folder is not None and not (folder / file).exists():
            with suppress(OSError):
                lock = (folder / f"{file}.lock").open("w")
    if lock is None:
        yield True
        return
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
            return
        except OSError:  # a file system without locks
            pass
        try:
            yield True
        finally:
            Path(lock.name).unlink(missing_ok=True)


@cache
def _folder_name() -> str:
    mark = hashlib.sha256(_environment().encode()).hexdigest()[:8]
    return f"numba-{metadata.version('numba')}-{platform.python_version()}-{mark}"


@cache
def _environment() -> str:
    """Everything beside the function itself that object code depends on."""
    from rebecsim.native.machine import processor

    own = (Path(__file__).with_name(f"{each}.py").read_text() for each in ("compiler", "machine"))
    versions = map(metadata.version, ("numba", "llvmlite"))
    return "\n".join([*versions, sys.version, *processor(), *own])


# --- content -------------------------------------------------------------------------------------


def _digest(made: _Compiled) -> str:
    """Hash what a function is made of."""
    lines = [_environment(), *_content(made.function, made, {made.function})]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _content(
    function: FunctionType, made: _Compiled | None, above: set[FunctionType]
) -> Iterator[str]:
    yield f"{function.__name__} {made and (made.signature, made.inline)} {function.__defaults__!r}"
    yield from _code(function.__code__)
    names = sorted(set(_names(function.__code__)) & function.__globals__.keys())
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    values = {name: function.__globals__[name] for name in names}
    values |= {name: cell.cell_contents for name, cell in cells}
    for name, value in values.items():
        inner = value if isinstance(value, _Compiled) else None
        referred = value if inner is None else inner.function
        if isinstance(value, ModuleType):
            yield f"{name} = {value.__name__} with {_constants(value, function.__code__)}"
        elif not isinstance(referred, FunctionType):
            yield f"{name} = {_shown(name, value)}"
        elif referred not in above:
            yield f"{name}:"
            yield from _content(referred, inner, above | {referred})


def _code(code: CodeType) -> Iterator[str]:
    yield code.co_code.hex()
    yield repr((code.co_names, code.co_varnames, code.co_argcount, code.co_freevars))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code(constant)
        else:
            yield repr(constant)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _constants(module: ModuleType, code: CodeType) -> list[tuple[str, object]]:
    """Give the numbers of a module that code may refer to by its name."""
    return [
        (name, vars(module)[name])
        for name in sorted(set(_names(code)) & vars(module).keys())
        if isinstance(vars(module)[name], bool | int | float)
    ]


def _shown(name: str, value: Any) -> str:
    """Write a global that code refers to, so that different values differ."""
    if isinstance(value, EnumType):
        return f"{value.__name__} {list(value.__members__.items())}"
    if isinstance(value, type | BuiltinFunctionType):
        return f"{value.__module__}.{value.__qualname__}{getattr(value, '_fields', '')}"
    if value is None or isinstance(value, bool | int | float | str | bytes):
        return repr(value)
    if isinstance(value, tuple):
        return ", ".join(_shown(name, each) for each in value)
    import numpy as np

    if isinstance(value, np.generic | np.ndarray):
        return f"{value.dtype} {np.shape(value)} {value.tobytes().hex()}"
    raise TypeError(f"{name}: a compiled function may not refer to a {type(value).__name__}")
