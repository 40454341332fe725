"""Ctrl-C that waits for a good moment, or that Python must not lose."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


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
