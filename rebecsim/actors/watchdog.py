"""Stop message servers and constructors that do not end, and name them; delay Ctrl-C.

Whether a message server ends is undecidable, so one that has been running for
longer than a patience is taken for one that does not. The same goes for constructors."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import PurePath
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Self

from rebecsim.actors.rebec import Message, PlainMessage
from rebecsim.errors import UserError

if TYPE_CHECKING:
    from rebecsim.actors.system import System

SOURCE = "__rebecsim_source__"
"""The global of a module written from Rebeca that holds its text, whose comments name lines."""

_LINE = re.compile(r"# (?:.*, )?line (\d+(?: of .+)?)$")


def line_of_rebeca(source: str, line: int) -> str:
    """Give the line of Rebeca that a line of a generated module was written from."""
    lines = source.splitlines()[:line]
    noted = (_LINE.search(each) for each in reversed(lines))
    return next((each[1] for each in noted if each is not None), "?")


PATIENCE = 10.0
"""Seconds after which a message server counts as one that does not end."""

_LOOK_EVERY = 0.1  # seconds
_MOST_IDLE_POLLS = 10


class EndlessError(UserError):
    """A message server or constructor that does not end; the text names rebec, file and line."""


class ServerStopped(BaseException):
    """Raised in a message server to stop it; not an Exception, which a model could catch."""


class Watchdog:
    """Watches the message server that a system runs in this thread, from one for all watchdogs.

    One that has been running for longer than `patience` seconds, or is running while `is_over`
    says so, is stopped by ServerStopped. Leaving the context turns that into an EndlessError,
    unless it was over anyway. The message servers of `system`, which may be set later, are watched,
    and the constructors of every system that is made in the context.
    """

    def __init__(
        self,
        system: System | None = None,
        *,
        patience: float = PATIENCE,
        is_over: Callable[[], bool] = lambda: False,
    ) -> None:
        self.system = system
        self.endless: EndlessError | None = None
        self.stopped_in = ""
        """What was stopped: rebec, message and place."""
        self._patience = patience
        self._is_over = is_over
        self._watched = threading.get_ident()
        self._outer: Watchdog | None = None
        self._last: PlainMessage | None = None
        self._since = 0.0
        self._raised = False
        self._left = False
        self._raising = threading.Lock()
        self._looking = threading.Lock()

    def __enter__(self) -> Self:
        _poller.add(self)
        self._outer, _active.watchdog = _active.watchdog, self
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        place: TracebackType | None,
    ) -> None:
        _active.watchdog = self._outer
        with self._raising:
            self._left = True
            if self._raised:
                _drain_pending_exception(self._watched)
        with self._looking:  # until a look that has begun is over
            _poller.remove(self)
        if isinstance(error, ServerStopped) and self.endless is not None:
            raise self.endless from None

    def look(self) -> None:
        """See what is at work, and stop it if it has been for too long."""
        with self._looking:
            system = self.system
            message = None if self._left else _at_work(system)
            if system is None or message is None:
                self._last = None
                return
            now = time.monotonic()
            if message is not self._last:
                self._last, self._since = message, now
            patience_is_over = now - self._since > self._patience
            if patience_is_over or self._is_over():
                self._stop(system, message, patience_is_over)

    def _stop(self, system: System, message: PlainMessage, endless: bool) -> None:
        """Stop the message server, if it is still that one."""
        frame = sys._current_frames().get(self._watched)
        with self._raising:
            if self._left or _at_work(system) is not message:
                return
            doing, place = _doing(system, message), _place(frame, message)
            self.stopped_in = f"{doing}{place}"
            if endless:
                self.endless = EndlessError(
                    f"{doing}: has not ended after {self._patience:g} s{place}"
                )
            self._raised = True
            raise_in(self._watched, ServerStopped)


class _Poller:
    """The thread that looks at all watchdogs in turn.

    It goes on for a while when there is none: to begin a thread takes longer than many systems
    take to be made and run, and they are made one after the other.
    """

    def __init__(self) -> None:
        self._changing = threading.Lock()
        self._watchdogs: set[Watchdog] = set()
        self._is_going = False

    def add(self, watchdog: Watchdog) -> None:
        """Look at this one, too. Raises RuntimeError if no thread can be had for it.

        Python in a browser has no threads: whoever waits there ends its worker.
        """
        if sys.platform == "emscripten":
            return
        with self._changing:
            if not self._is_going:
                threading.Thread(target=self._go, name="watchdog", daemon=True).start()
                self._is_going = True
            self._watchdogs.add(watchdog)

    def remove(self, watchdog: Watchdog) -> None:
        """Look at this one no more."""
        with self._changing:
            self._watchdogs.discard(watchdog)  # in a process that was forked, it is gone already

    def _go(self) -> None:
        idle_polls = 0
        try:
            while idle_polls < _MOST_IDLE_POLLS:
                time.sleep(_LOOK_EVERY)
                with self._changing:
                    watchdogs = tuple(self._watchdogs)
                    idle_polls = 0 if watchdogs else idle_polls + 1
                    self._is_going = idle_polls < _MOST_IDLE_POLLS
                for each in watchdogs:
                    each.look()
        finally:
            self._is_going = False  # also when one could not be asked whether it was over


_poller = _Poller()


def _restart_poller() -> None:
    """Do without the thread of the process that this one was forked from; it does not go on."""
    global _poller
    _poller = _Poller()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_restart_poller)


def _at_work(system: System | None) -> PlainMessage | None:
    """Give the message that is served, or that stands for a constructor that runs."""
    if system is None or not (system.serving or system.constructing):
        return None
    return getattr(system, "message", None)  # there is none before the first constructor


@contextmanager
def watching_constructors(system: System) -> Iterator[None]:
    """Watch the constructors of a system by the watchdog at work in this thread, or one of its own.

    Raises EndlessError for one that does not end, now or when that watchdog is left.
    """
    dog = _active.watchdog
    if dog is None:
        with Watchdog(), watching_constructors(system):
            yield
        return
    before, dog.system = dog.system, system
    system.constructing = True
    try:
        yield
    finally:
        system.constructing = False
        dog.system = before


class _Active(threading.local):
    """The watchdog in whose context this thread is."""

    watchdog: Watchdog | None = None


_active = _Active()


def raise_in(thread: int, exception: type[BaseException]) -> None:
    """Let a thread raise an exception at its next instruction, instead of another it was to."""
    import ctypes  # only where something does not end

    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(exception))


def _drain_pending_exception(this_thread: int) -> None:
    """Raise here what this thread was to raise and has not, if anything, and forget it.

    CPython can also be told to raise nothing, but then looks for it ever after, at each call and
    in each loop, which is slow; and where calls are traced, too, CPython 3.11 does nothing else.
    """
    with suppress(ServerStopped):
        raise_in(this_thread, ServerStopped)
        while True:  # until it comes
            pass


# --- where it is ----------------------------------------------------------------------------------


def _doing(system: System, message: PlainMessage) -> str:
    if not system.constructing:
        return f"{system.actor}, serving {Message(*message)}"
    return f"{system.actor}, in the constructor of {type(system.actor).__name__}"


def _place(frame: FrameType | None, message: PlainMessage) -> str:
    """Say where in the model's text the thread is, innermost place first."""
    file = message[3].handler.__code__.co_filename
    while frame is not None and frame.f_code.co_filename != file:
        frame = frame.f_back
    if frame is None:
        return ""
    source = frame.f_globals.get(SOURCE)
    if isinstance(source, str):
        name = PurePath(file.removeprefix("<python of ").removesuffix(">")).name
        return f" ({name}, line {line_of_rebeca(source, frame.f_lineno)})"
    return f" ({file}:{frame.f_lineno})"


class Interrupt:
    """Whether the user has pressed Ctrl-C."""

    seen = False

    def raise_if_seen(self) -> None:
        """Raise KeyboardInterrupt if the user has."""
        if self.seen:
            raise KeyboardInterrupt


@contextmanager
def noting_interrupts() -> Iterator[Interrupt]:
    """Turn the first Ctrl-C into a note, so that it comes at a good moment; a second one is raised.

    Only the main thread can do so; in another one nothing is noted, and neither where Ctrl-C is
    ignored, as it is for what a shell script runs in the background.
    """
    interrupt = Interrupt()

    def note(number: int, frame: object) -> None:
        interrupt.raise_if_seen()
        interrupt.seen = True

    with _handling_interrupts(note):
        yield interrupt


@contextmanager
def remembering_interrupts() -> Iterator[Interrupt]:
    """Raise every Ctrl-C at once, as Python does, and remember that there was one.

    Python drops an exception that is raised while it frees an object, and a signal may well come
    then. Long work asks now and then for such an interrupt.
    """
    interrupt = Interrupt()

    def remember(number: int, frame: object) -> None:
        interrupt.seen = True
        raise KeyboardInterrupt

    with _handling_interrupts(remember):
        yield interrupt


@contextmanager
def _handling_interrupts(handle: Callable[[int, object], None]) -> Iterator[None]:
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if ignored or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
