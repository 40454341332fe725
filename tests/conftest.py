"""What all tests have: Ctrl-C, and data beside the project that may not be copied into it."""

from __future__ import annotations

import gc
import signal
from collections.abc import Callable, Generator, Iterator
from functools import lru_cache
from importlib import metadata
from pathlib import Path

import pytest
from hypothesis import settings

from rebecsim.cli import running
from rebecsim.lang.reading import parser
from rebecsim.simulation import montecarlo
from tests.examples import QUICK, register_profiles
from tests.program import Ended, fresh_consoles, in_this_process, undrawn

register_profiles()
settings.load_profile(QUICK)

Run = Callable[..., Ended]

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of logs and schedules of others; the test is skipped where there is none."""
    if not SHARED.is_dir():
        pytest.skip("reads data that may not be copied into the project: no ../shared/data")
    return SHARED


@pytest.fixture(scope="session")
def run() -> Run:
    """Run the program in this process: exit code, standard output and standard error."""
    return in_this_process


@pytest.fixture(scope="session", autouse=True)
def remembered_models() -> Iterator[None]:
    """Read a text once for all tests of a process: most tests have it from the same files.

    And make a model once of what comparisons run: most of the tests have the same; and look once
    for plug-ins of installed packages, as a process does.
    """
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(metadata, "entry_points", lru_cache(metadata.entry_points))
        patched.setattr(parser, "parse_model", lru_cache(300)(parser.parse_model))
        patched.setattr(montecarlo, "_model", lru_cache(200)(montecarlo._model.__wrapped__))
        yield


@pytest.fixture(scope="session", autouse=True)
def no_lines_of_progress() -> Iterator[None]:
    """Have no run say that it takes long: on a busy machine, any may."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(running, "_UNANNOUNCED", 1e6)
        yield


@pytest.fixture(autouse=True)
def own_consoles() -> Iterator[None]:
    """Leave no test the consoles of another, made for another terminal."""
    with fresh_consoles():
        yield


@pytest.fixture
def without_charts() -> Iterator[None]:
    """Draw no charts in reports of this process, at which the test does not look."""
    with undrawn():
        yield


@pytest.fixture
def no_collections() -> Iterator[None]:
    """Collect no garbage, which hypothesis watches with a function of its own.

    What a watchdog raises in that function does not stop the test that is to be stopped.
    """
    gc.disable()
    yield
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for garbage neither while tests are collected nor ever after in what that leaves.

    It is all that is imported, and thousands of tests, and it stays: to go through it again and
    again, and through what is new after each 700 objects, takes a twentieth of the tests' time.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()
        gc.set_threshold(10_000, 10, 10)


def pytest_unconfigure() -> None:
    """Let everything be freed when Python ends, as libraries expect that count what they made."""
    gc.unfreeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that read such data, so that they can be run alone: -m shared."""
    for item in items:
        if "shared_data" in getattr(item, "fixturenames", ()):
            item.add_marker("shared")


def pytest_configure() -> None:
    """Let Ctrl-C work, here and in programs started from here, where it was ignored.

    It is in what a shell script runs in the background, and in what nohup runs.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
