"""Tasks of worker processes: which engine takes them, and that its results are the same."""

import numpy as np
import pytest

from rebecsim import trust
from rebecsim.simulation import (
    FIFO,
    RANDOM,
    MessageOrder,
    Observation,
    Runs,
    Task,
    montecarlo,
    run_task,
)

TEXT = """
reactiveclass Dice(4) {
    statevars { int sum; }
    Dice() { self.roll(); }
    msgsrv roll() { sum += ?(1, 2, 3, 4, 5, 6); self.roll() after(1); }
}
main { Dice dice():(); }
"""
SEEN = Observation("dice", ("sum",))


def dice(replications, order=RANDOM, chosen="auto", cell="dice", until=9):
    runs = Runs(SEEN, (3, 4), range(replications), until, order=order)
    return Task(cell, TEXT, runs, chosen)


@pytest.fixture(autouse=True)
def fresh(tmp_path, monkeypatch):
    monkeypatch.setattr(trust, "cache_directory", lambda: tmp_path)
    montecarlo._laid_out_tasks.clear()
    montecarlo._model.cache_clear()
    return tmp_path


def compiled(monkeypatch, answer):
    monkeypatch.setattr(montecarlo, "_is_compiled", lambda native: answer)


def test_small_tasks_are_for_python_until_the_model_is_loaded(monkeypatch):
    compiled(monkeypatch, True)
    before, large, after = map(run_task, [dice(5), dice(1_000), dice(5, FIFO)])
    assert [montecarlo.engine for montecarlo in (before, large, after)] == [
        "python",
        "native",
        "native",
    ]
    assert np.array_equal(before.columns["sum"], large.columns["sum"][:5])
    assert run_task(dice(5, cell="other")).engine == "python"


def test_what_is_not_compiled_is_not_worth_it(monkeypatch, fresh):
    compiled(monkeypatch, False)
    assert run_task(dice(1_000)).engine == "python"
    assert run_task(dice(5)).engine == "python"
    assert len(list((fresh / "models").iterdir())) == 1
    asked = run_task(dice(5, chosen="native"))
    assert asked.engine == "native"


def test_python_when_asked_for_reads_the_model_once(monkeypatch, fresh):
    compiled(monkeypatch, True)
    batches = [run_task(dice(1_000, order, "python")) for order in (RANDOM, FIFO)]
    assert [montecarlo.engine for montecarlo in batches] == ["python", "python"]
    assert montecarlo._model.cache_info().misses == 1
    assert not (fresh / "models").exists()


@pytest.mark.parametrize(
    "order", [RANDOM, MessageOrder(last="roll"), MessageOrder(first="roll"), FIFO]
)
def test_both_engines_give_the_same(order):
    native = run_task(dice(50, order, "native"))
    python = run_task(dice(50, order, "python"))
    assert (native.engine, python.engine) == ("native", "python")
    assert np.array_equal(native.columns["sum"], python.columns["sum"])
    assert np.array_equal(native.outcomes, python.outcomes)
