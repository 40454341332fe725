"""Hash compaction with what need not be in memory in files."""

from __future__ import annotations

import errno
import os
from typing import Any

import numpy as np
import pytest

from rebecsim.exploration import BreadthFirst, Limits, explore
from rebecsim.native import mapped
from rebecsim.native.loops import tables
from rebecsim.native.mapped import Mapped
from tests.exploration.compiled.test_engines import everything
from tests.exploration.conformance import load

pytestmark = [
    pytest.mark.large,
    pytest.mark.skipif(not mapped._CAN_MAP, reason="this system cannot give memory back"),
]

PAGE = 1 << 10  # rows of four bytes


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put small arrays into files, too, and give their memory back often."""
    monkeypatch.setattr(mapped, "_LARGE", 1 << 13)
    monkeypatch.setattr(tables, "_MOVED", 1 << 9)
    monkeypatch.setattr(tables, "_TOGETHER", 100)
    monkeypatch.setattr(tables, "_STATES_IN_MEMORY", 50)


def explored(workers: int = 1, **options: Any) -> dict[str, Any]:
    model = load("ticket3.rebeca")[1]
    strategy = BreadthFirst(compact=True, workers=workers)
    return everything(explore(model, strategy=strategy, **options))


@pytest.mark.parametrize("workers", [1, 2])
def test_states_and_path_are_the_same(monkeypatch: pytest.MonkeyPatch, workers: int) -> None:
    limits = Limits(states=30_000)
    on_disk = explored(workers, limits=limits)
    monkeypatch.setattr(mapped, "_LARGE", 1 << 60)
    assert on_disk == explored(limits=limits)
    assert on_disk["states"] == 30_000
    assert on_disk["depth"]


def test_without_room_for_files_all_is_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    refused: list[int] = []

    def refuse(_: int, __: int, size: int) -> None:
        refused.append(size)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", refuse)
    found = explored(limits=Limits(states=30_000))
    assert refused
    monkeypatch.undo()
    assert found == explored(limits=Limits(states=30_000))


def test_a_file_is_read_again_and_lengthened() -> None:
    numbers = Mapped((4 * PAGE,), np.uint32, on_disk=True)
    numbers.array[:] = range(4 * PAGE)
    numbers.flush()
    assert numbers.array.tolist() == list(range(4 * PAGE))
    numbers.lengthen(9 * PAGE, 3 * PAGE)
    assert numbers.array[: 3 * PAGE].tolist() == list(range(3 * PAGE))
    assert len(numbers.array) == 9 * PAGE


def test_rows_in_memory_are_discarded() -> None:
    numbers = Mapped((4 * PAGE,), np.uint32, on_disk=False)
    numbers.array[:] = 7
    numbers.flush()  # is for files only
    numbers.discard(PAGE, PAGE)
    kept = np.flatnonzero(numbers.array)
    assert kept.tolist() == [*range(PAGE), *range(2 * PAGE, 4 * PAGE)]
