"""Models that are kept on disk are the models that were laid out."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from rebecsim import trust
from rebecsim.generate import build_model
from rebecsim.lang import check_source, syntax, walk
from rebecsim.native import native_model
from rebecsim.simulation import Observation, Runs, native
from rebecsim.simulation.montecarlo import native_batch, python_batch
from rebecsim.simulation.native import kept_model

TEXT = """
env int SIDES = 6;
reactiveclass Dice(4) {
    knownrebecs { Cup cup; }
    statevars { int sum; float share; int[3] last; }
    Dice() { share = 0.5; self.roll(); }
    msgsrv roll() {
        int value = ?(1, 2, 3, SIDES);
        sum += value;
        last[sum % 3] = value;
        assertion(sum < 40, "too much");
        cup.put(value) after(1) deadline(5);
        self.roll() after(?(1, 2));
    }
}
reactiveclass Cup(9) {
    statevars { int total; }
    Cup() { }
    msgsrv put(int value) { total += value; delay(1); }
}
main { Dice dice(cup):(); Cup cup():(); }
"""
RUNS = Runs(Observation("dice", ("sum", "cup.total")), (1, 2), range(20), until=30)


@pytest.fixture(autouse=True)
def directory(tmp_path, monkeypatch):
    """Where models are kept; compiled code stays where it always is."""
    folder = tmp_path / "models"
    folder.mkdir()
    other = trust.kept_folder

    def kept_folder(name: str = "", *, make: bool = False) -> Path | None:
        return folder if name == "models" else other(name, make=make)

    monkeypatch.setattr(trust, "kept_folder", kept_folder)
    return folder


class LayOut:
    """Lays a text out, and counts how often."""

    def __init__(self, text=TEXT):
        self.text = text
        self.times = 0

    def __call__(self):
        self.times += 1
        checked = check_source(self.text, "dice.rebeca", "timed")
        return native_model(build_model(checked, "dice.rebeca"), checked)


def same_results(one, other):
    return one.columns.keys() == other.columns.keys() and all(
        np.array_equal(one.columns[name], other.columns[name]) for name in one.columns
    )


def test_a_kept_model_is_the_one_that_was_laid_out(directory):
    lay_out = LayOut()
    fresh = kept_model(TEXT, "dice.rebeca", lay_out)
    kept = kept_model(TEXT, "dice.rebeca", lay_out)
    assert lay_out.times == 1
    assert kept is not fresh
    assert len(list(directory.iterdir())) == 1
    for name in ("rebecs", "servers", "cells", "bags", "counts", "params"):
        assert np.array_equal(getattr(kept, name), getattr(fresh, name)), name
    assert kept.source == fresh.source
    assert kept.step is fresh.step
    assert (kept.sites, kept.cell_of, kept.views) == (fresh.sites, fresh.cell_of, fresh.views)
    assert np.array_equal(kept.streams((3, 4)), fresh.streams((3, 4)))
    assert same_results(python_batch(kept.model, RUNS), python_batch(fresh.model, RUNS))


def test_a_kept_tree_answers_what_the_checked_one_does():
    lay_out = LayOut()
    fresh = kept_model(TEXT, "dice.rebeca", lay_out).checked
    kept = kept_model(TEXT, "dice.rebeca", lay_out).checked
    assert kept.tree == fresh.tree
    for old, new in zip(walk(fresh.tree), walk(kept.tree), strict=True):
        assert new.span == old.span
        if id(old) in fresh.types:
            assert kept.type_of(new) == fresh.type_of(old)
        if isinstance(old, syntax.Name) and id(old) in fresh.symbols:
            assert kept.symbol_of(new) == fresh.symbol_of(old)
        if isinstance(old, syntax.Choice) and id(old) in fresh.choice_sites:
            assert kept.choice_site(new) == fresh.choice_site(old)
        assert kept.is_constant(new) == fresh.is_constant(old)


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:200],
        lambda content: content[:-1] + bytes([content[-1] ^ 1]),
        lambda content: b"rebecsim model 0\n" + content[17:],
    ],
    ids=["empty", "cut off", "changed", "of another version"],
)
def test_a_damaged_entry_is_made_again(directory, damage):
    lay_out = LayOut()
    kept_model(TEXT, "dice.rebeca", lay_out)
    (path,) = directory.iterdir()
    good = path.read_bytes()
    path.write_bytes(damage(good))
    kept_model(TEXT, "dice.rebeca", lay_out)
    assert lay_out.times == 2
    assert list(directory.iterdir()) == [path]
    kept_model(TEXT, "dice.rebeca", lay_out)
    assert lay_out.times == 2


def test_another_text_file_or_program_is_another_entry(directory, monkeypatch):
    longer = TEXT.replace("sum < 40", "sum < 50")
    kept_model(TEXT, "dice.rebeca", LayOut())
    others = [LayOut(longer), LayOut(), LayOut()]
    kept_model(longer, "dice.rebeca", others[0])
    kept_model(TEXT, "die.rebeca", others[1])
    monkeypatch.setattr(native, "_program", lambda: "another")
    kept_model(TEXT, "dice.rebeca", others[2])
    assert [each.times for each in others] == [1, 1, 1]
    assert len(list(directory.iterdir())) == 4


def test_nothing_is_kept_where_nothing_can_be_written(directory, monkeypatch):
    monkeypatch.setattr(trust, "kept_folder", lambda name, make: None)
    lay_out = LayOut()
    for times in (1, 2):
        kept_model(TEXT, "dice.rebeca", lay_out)
        assert lay_out.times == times
    assert not list(directory.iterdir())


def test_what_is_nested_too_deeply_is_not_kept(directory, monkeypatch):
    def refuse(*_):
        raise RecursionError

    monkeypatch.setattr(native._Pickler, "reducer_override", refuse)
    lay_out = LayOut()
    kept_model(TEXT, "dice.rebeca", lay_out)
    kept_model(TEXT, "dice.rebeca", lay_out)
    assert lay_out.times == 2
    assert not list(directory.iterdir())


@settings(max_examples=20)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=4), st.integers(1, 3))
def test_kept_models_run_as_fresh_ones(values, pause):
    text = TEXT.replace("?(1, 2, 3, SIDES)", f"?({', '.join(map(str, values))})")
    text = text.replace("?(1, 2))", f"{pause})")
    lay_out = LayOut(text)
    kept_model(text, "dice.rebeca", lay_out)
    kept = kept_model(text, "dice.rebeca", lay_out)
    assert lay_out.times <= 1
    expected = python_batch(build_model(check_source(text, "dice.rebeca")), RUNS)
    assert same_results(python_batch(kept.model, RUNS), expected)


def test_kept_models_run_compiled():
    lay_out = LayOut()
    kept_model(TEXT, "dice.rebeca", lay_out)
    kept = kept_model(TEXT, "dice.rebeca", lay_out)
    expected = python_batch(kept.model, RUNS)
    found = native_batch(kept, RUNS)
    assert found.engine == "native"
    assert same_results(found, expected)
    assert np.array_equal(found.outcomes, expected.outcomes)
