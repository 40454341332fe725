"""Keep compiled functions on disk between runs.

A function of integers, floats and arrays is compiled by Numba for one signature, when it is first
used, and its machine code is kept in the user's cache directory:

    from rebecsim.native.arrays import Integers
    from rebecsim.native.cache import compiled

    @compiled()
    def total(cells: Integers, count: int) -> int:
        ...

* Use it as any other function, from Python or from another compiled function. Nothing is compiled
  or read from disk before that, so that a program pays only for what it calls: functions inside
  an entry that was found on disk are not looked at.
* One signature for each function; arguments that cannot be converted to it are a TypeError.
* Without Numba, or with `NUMBA_DISABLE_JIT=1`, the function stays plain Python; integers of NumPy
  wrap silently.
* Division by zero gives 0 or an infinity: compiled code raises nothing. Indices are not checked and
  must not be negative, which is not from the end of the array either.

An entry is found by its content: the bytecode of the function, its signature, the constants and
functions it refers to, theirs in turn, and the versions of Python, Numba, LLVM and the processor.
So an edited function is never mistaken for its former self, and equal functions of different
models share one entry. What `rebecsim.cache` does not trust is compiled again. Processes that
compile the same function at the same time lock it, so that mostly only one of them does. Where the
directory cannot be used, functions are compiled for this process only.

Numba is imported where the first function is made.
"""

from __future__ import annotations

import hashlib
import platform
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import EnumType
from functools import cache, cached_property
from importlib import metadata
from itertools import chain
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, TypeVar, cast

from rebecsim.cache import (
    GRAMMAR_TABLES,
    KEPT_MODELS,
    cache_directory,
    kept_folder,
    read_kept,
    write_kept,
)
from rebecsim.extras import is_installed
from rebecsim.native import inside_numba
from rebecsim.native.inside_numba import (
    LazyDispatcher,
    compiler_lock,
    definition_of,
    packed_result,
    processor,
    rebuilt_result,
)

if sys.platform != "win32":
    import fcntl

_SUFFIX = ".native"
_MARK = b"rebecsim compiled code 3\n"  # counts up whenever functions are compiled otherwise
_FOLDER = re.compile(r"numba-(?P<numba>[^-]+)-(?P<python>[^-]+)-[0-9a-f]{8}")

Function = TypeVar("Function", bound=Callable[..., Any])


# --- where ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CacheFolder:
    """The compiled functions of one version of Numba and Python: how many, and their bytes."""

    path: Path
    numba: str
    python: str
    entries: int
    size: int


def cache_folders() -> list[CacheFolder]:
    """Describe what is in the cache, in the order of names. Raises OSError."""
    found = []
    for path, match in _folders():
        sizes = [entry.stat().st_size for entry in path.glob(f"*{_SUFFIX}")]
        found.append(CacheFolder(path, match["numba"], match["python"], len(sizes), sum(sizes)))
    return found


def is_anything_compiled() -> bool:
    """Tell whether there is a compiled function in the cache, of any version. Raises OSError."""
    return any(any(path.glob(f"*{_SUFFIX}")) for path, _ in _folders())


def clear_cache() -> None:
    """Delete all compiled code, kept models and grammar tables, of every version; nothing else.

    Raises OSError.
    """
    directory = cache_directory()
    if directory is not None:
        for entry in chain(directory.glob(GRAMMAR_TABLES), directory.glob(KEPT_MODELS)):
            entry.unlink(missing_ok=True)
    for path, _ in _folders():
        for entry in chain.from_iterable(map(path.glob, (f"*{_SUFFIX}", "*.tmp", "*.lock"))):
            entry.unlink(missing_ok=True)
        with suppress(OSError):  # another process has put something there just now
            path.rmdir()


def _folders() -> Iterator[tuple[Path, re.Match[str]]]:
    directory = cache_directory()
    if directory is None or not directory.is_dir():
        return
    for path in sorted(directory.iterdir()):
        match = _FOLDER.fullmatch(path.name)
        if match and path.is_dir():
            yield path, match


# --- what ----------------------------------------------------------------------------------------


def is_plain() -> bool:
    """Whether functions are left as plain Python: without Numba, or with `NUMBA_DISABLE_JIT=1`."""
    return not _is_there() or bool(_config().DISABLE_JIT)


@cache
def _is_there() -> bool:
    return is_installed("numba")


def _config() -> Any:
    """Give Numba's configuration, whose fields its annotations do not know."""
    from numba import config

    return config


def compiled(
    signature: str = "",
    *,
    borrows: bool = False,
    inner: bool = False,
    inline: bool = False,
    first_class: bool = False,
) -> Callable[[Function], Function]:
    """Decorate a function that is compiled when used, for what its annotations say.

    Generated functions have a `signature` in Numba's notation in their place. A function that
    `borrows` makes no arrays, copies none by assigning slices and keeps none; then no time is lost
    on counting who refers to its arguments, which costs more than small functions do themselves. An
    `inner` one is called from compiled functions only, which halves the time to compile it; one
    that is `inline` is inner and becomes a part of those that call it. One that is `first_class` is
    passed to compiled functions as an argument and not called from Python either.
    """
    options = {
        "error_model": "numpy",
        "nogil": True,
        "forceinline": inline,
        "no_cpython_wrapper": inner or inline or first_class,
        "no_cfunc_wrapper": inner or inline,
    }

    def decorate(function: Function) -> Function:
        if is_plain():
            return function
        if not inside_numba.is_used():
            from numba import njit

            return cast(Function, njit(error_model="numpy", nogil=True)(function))
        assert isinstance(function, FunctionType)
        return _Compiled(function, signature, options, borrows).dispatcher

    return decorate


def is_ready(function: Callable[..., Any]) -> bool:
    """Whether a compiled function needs no compiling any more: it was used, or lies on disk."""
    made = getattr(function, "made", None)
    return made is None or made.is_ready()


def prepare(*functions: Callable[..., Any]) -> None:
    """Load or compile functions now, those first that no other process is compiling at the moment.

    Raises what Numba raises when it cannot compile one.
    """
    wanted = [each.made for each in functions if hasattr(each, "made")]
    late = [each for each in wanted if not each.prepare(wait=False)]
    for each in late:
        each.prepare()


def entry_of(function: Function) -> Function:
    """Give a compiled function to be called often, with arguments of exactly the types it has."""
    made: _Compiled | None = getattr(function, "made", None)
    if made is None:
        return function
    made.prepare()
    return cast(Function, made.entry())


_results: dict[str, Any] = {}  # Numba's results of this process, by digest


class _Compiled(LazyDispatcher):
    """A function with its one signature."""

    def __init__(
        self, function: FunctionType, signature: str, options: dict[str, Any], borrows: bool
    ) -> None:
        super().__init__(function, options, borrows)
        self._given = signature
        self._options = options | {"borrows": borrows}

    @cached_property
    def signature(self) -> Any:
        """What the function is compiled for."""
        from rebecsim.native.arrays import signature_of  # which imports what compiling takes

        return self._given or signature_of(self.function)

    @cached_property
    def options(self) -> str:
        """Signature and options as text, which differs wherever machine code may."""
        kinds = [] if self._given else self.signature.args
        tuples = [each.instance_class for each in kinds if hasattr(each, "instance_class")]
        return f"{self.signature} {_shown('', tuple(tuples))} {self._options}"

    def is_ready(self) -> bool:
        """Whether there is machine code already, in this process or on disk."""
        if self.dispatcher.overloads:
            return True
        digest = _digest(self)
        return digest in _results or _read(_file_name(self.function.__name__, digest)) is not None

    def prepare(self, *, wait: bool = True) -> bool:
        """Load or compile the function, unless that has been done.

        False: not to `wait` was asked for, and another process is compiling it.
        """
        if self.dispatcher.overloads:
            return True
        digest = _digest(self)
        known = _results.get(digest)
        if known is not None:
            self.adopt(known)
            return True
        # Symbols of machine code must differ wherever the code does, in all processes.
        self.function.__qualname__ = f"{self.function.__name__}_{digest[:24]}"
        entry = _Entry(self.function.__name__, digest)
        # In this order, or a thread that compiles could wait for one that waits for it.
        with compiler_lock(), _only_one(entry.file, wait=wait) as is_mine:
            if is_mine:
                self.compile(entry)
        return is_mine


class _Entry:
    """One function on disk; the part of Numba's interface of caches that a dispatcher calls."""

    def __init__(self, name: str, digest: str) -> None:
        self._digest = digest
        self.file = _file_name(name, digest)

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Give the compiled function, or None."""
        payload = _read(self.file)
        if payload is None:
            return None
        try:
            result = rebuilt_result(payload, target_context)
        except Exception:  # whatever reading what is no entry may raise
            return None
        _results[self._digest] = result
        return result

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep a function that has just been compiled."""
        _results[self._digest] = result
        _write(self.file, packed_result(result))


# --- files ---------------------------------------------------------------------------------------


def _file_name(name: str, digest: str) -> str:
    return f"{name}-{digest[:32]}{_SUFFIX}"


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


def _folder_name() -> str:
    import numba

    python = platform.python_version()
    mark = hashlib.sha256("\n".join(_environment()).encode()).hexdigest()[:8]
    return f"numba-{numba.__version__}-{python}-{mark}"


def _environment() -> list[str]:
    """Everything beside the function itself that machine code depends on."""
    import numba

    config = _config()
    return [
        numba.__version__,
        metadata.version("llvmlite"),
        sys.implementation.cache_tag or sys.implementation.name,
        platform.python_version(),
        processor(),
        repr((config.OPT, config.LOOP_VECTORIZE, config.SLP_VECTORIZE)),
    ]


# --- content -------------------------------------------------------------------------------------


def _digest(made: _Compiled) -> str:
    """Hash what a function is made of."""
    lines = [*_environment(), *_content(made.function, made.options, {made.function})]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _content(function: FunctionType, options: str, above: set[FunctionType]) -> Iterator[str]:
    yield f"{function.__name__} {options} {function.__defaults__!r}"
    yield from _code(function.__code__)
    names = sorted(set(_names(function.__code__)) & function.__globals__.keys())
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    values = {name: function.__globals__[name] for name in names}
    values |= {name: cell.cell_contents for name, cell in cells}
    for name, value in values.items():
        made = getattr(value, "made", None)
        if not isinstance(made, _Compiled):
            made = None
        referred = value if made is None else made.function
        if isinstance(value, ModuleType):
            yield f"{name} = {value.__name__} with {_constants(value, function.__code__)}"
        elif (intrinsic := definition_of(value)) is not None:
            yield f"{name}, an intrinsic:"
            yield from _code(intrinsic.__code__)
        elif not isinstance(referred, FunctionType):
            yield f"{name} = {_shown(name, value)}"
        elif referred not in above:
            yield f"{name}:"
            yield from _content(referred, made.options if made else "", above | {referred})


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
