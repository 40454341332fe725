"""Ctrl-C, taken note of."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["Interrupt", "noting_interrupts"]


class Interrupt:
    """Whether somebody has asked for the end."""

    seen = False


@contextmanager
def noting_interrupts() -> Iterator[Interrupt]:
    """Turn the first Ctrl-C into a note, so that it comes at a good moment; a second one is raised.

    Only the main thread can do so; in another one nothing is noted, and neither where Ctrl-C is
    ignored, as it is for what a shell script runs in the background.
    """
    interrupt = Interrupt()

    def note(number: int, frame: object) -> None:
        if interrupt.seen:
            raise KeyboardInterrupt
        interrupt.seen = True

    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if ignored or threading.current_thread() is not threading.main_thread():
        yield interrupt
        return
    before = signal.signal(signal.SIGINT, note)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, before)
