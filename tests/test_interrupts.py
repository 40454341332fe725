"""Ctrl-C; `make test-plain` runs this where it is ignored, as in `make test &` of a script."""

import signal
import subprocess
import sys

import pytest

from rebecsim.actors.watchdog import noting_interrupts, remembering_interrupts


def test_an_interrupt_reaches_tests_and_what_they_start():
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    program = "import signal; signal.raise_signal(signal.SIGINT)"
    ended = subprocess.run([sys.executable, "-c", program], stderr=subprocess.DEVNULL)
    assert ended.returncode != 0


def test_an_ignored_interrupt_stays_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with noting_interrupts() as interrupt:
            signal.raise_signal(signal.SIGINT)
        assert not interrupt.seen
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_that_python_drops_is_remembered():
    class Freed:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)

    with remembering_interrupts() as interrupt:
        dropped = Freed()
        del dropped
        assert interrupt.seen
        with pytest.raises(KeyboardInterrupt):
            interrupt.raise_if_seen()


def test_an_interrupt_is_raised_at_once_as_well():
    with remembering_interrupts() as interrupt:
        interrupt.raise_if_seen()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
