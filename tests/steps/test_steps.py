"""Models in Python are read as what they do: in all engines, with all reductions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import rebecsim.interface as rs
from rebecsim.errors import UserError
from rebecsim.exploration import Limits
from rebecsim.generate import python_model
from rebecsim.interface.loading import as_loaded
from rebecsim.lang import print_model
from rebecsim.steps import NotUnderstoodError, steps_of, understood

MODELS = Path(__file__).resolve().parents[2] / "models"
PAIRS = [
    path
    for path in sorted((MODELS / "teaching").glob("*.py"))
    if path.with_suffix(".rebeca").exists()
]
TEACHING = [path for path in (MODELS / "teaching").glob("*.py") if path.stem != "__init__"]
HEAD = """from __future__ import annotations
import random
from rebecsim.actors import *
from rebecsim.actors import Float, Reference
SIZES = [1, 2]
def twice(x): return 2 * x
class Lamp(Rebec, queue_size=3):
    other: Lamp = known_rebec()
    count: int = state_variable(Int)
    real: float = state_variable(Float)
    cells: list[int] = state_variable(Int[2])
    def __init__(self) -> None:
        self.go()
    @message_server
    def go(self) -> None:
        {}
model = Model("lamp", (Instance("lamp", Lamp, knows=["lamp"]),))
"""


def lamp(*lines: str):
    """A model whose only message server has these lines; the first is line 16."""
    return python_model(HEAD.format("\n        ".join(lines)), Path("lamp.py"))


@pytest.mark.parametrize(
    ("lines", "line", "reason"),
    [
        (["self.count = random.randint(1, 2)"], 16, "`random.randint(...)` gives no value"),
        (
            ["self.count += 1", "self.count = sum(self.cells)"],
            17,
            "`sum(...)` cannot be translated",
        ),
        (["self.count = self.other.count"], 16, "reads the state of another rebec"),
        (["if self.count:", "    got = 1", "self.count = got"], 18, "`got` may have no value here"),
        (["got = 1", "got = self.other"], 17, "`got` is int here and Lamp there"),
        (["self.real = 0.1"], 16, "a Float needs `float32(...)`"),
        (["self.count = 7 // self.count - 1 // -1"], 16, None),
        (
            ["self.count = self.count // (self.count - 3)"],
            16,
            "divides by a value that may be negative",
        ),
        (["self.other.stop()"], 16, "Lamp has no message server `stop`"),
        (["self.other.go(1)"], 16, "`go` is called with the wrong arguments"),
        (["for each in {1, 2}:", "    self.count = each"], 16, "`{1, 2}` cannot be translated"),
        (["with open('x'): pass"], 16, "a statement `with` cannot be translated to Rebeca"),
        (["assert self.count == 0"], 16, "a statement `assert` cannot be translated to Rebeca"),
        (["require(self.count == 0, f'{self.count}')"], 16, "text of `require` must be"),
        (["self.cells = [1, 2]"], 16, "`[1, 2]` cannot be translated to Rebeca"),
        (["self.other = self"], 16, "`self.other` is not a state variable of the rebec"),
        (["self.extra = 1"], 16, "`self.extra` is not a state variable of the rebec"),
        (["global SIZES"], 16, "a statement `global` cannot be translated to Rebeca"),
    ],
)
def test_what_has_no_meaning_is_named_with_its_place(lines, line, reason):
    model = lamp(*lines)
    if reason is None:
        steps_of(model)
        return
    with pytest.raises(NotUnderstoodError) as caught:
        steps_of(model)
    assert (caught.value.file, caught.value.line) == ("lamp.py", line)
    assert reason in caught.value.reason
    assert understood(model) == (None, str(caught.value))


@pytest.mark.parametrize("path", PAIRS, ids=lambda path: path.stem)
def test_teaching_models_are_the_same_in_both_languages(path):
    written = rs.load(path)
    texts = [written, rs.load(path.with_suffix(".rebeca"))]
    texts.append(rs.loads(print_model(written.checked.tree), path.stem, core=written.model.core))
    plain = replace(written, checked=None)
    expected = found(plain, engine="python")
    assert [found(each) for each in texts] == [expected] * 3
    try:
        reduced = found(texts[1], reduce="both")
    except rs.UserError as error:
        with pytest.raises(rs.UserError, match=str(error).split(",")[0][:30]):
            found(written, reduce="both")
    else:
        assert found(written, reduce="both") == reduced


@pytest.mark.parametrize("path", TEACHING, ids=lambda path: path.stem)
def test_all_teaching_models_are_understood(path):
    """They do the same as they are read, and by what their classes do."""
    written = rs.load(path)
    assert written.checked is not None, written.against
    assert found(written) == found(replace(written, checked=None), engine="python")


@pytest.mark.parametrize(
    ("lines", "count"),
    [
        (["self.count = sum(SIZES[each] for each in range(2) if each < 1)"], 1),
        (["self.count = sum(each > 1 for each in SIZES)"], 1),
        (["self.count = 1 if any(each > 1 for each in SIZES) else 7"], 1),
        (["self.count = 1 if all(each > 1 for each in SIZES) else 7"], 7),
        (["self.cells[1] = 4", "self.count = twice(self.cells[1]) + twice(1)"], 10),
        (["self.cells[1] = 1", "self.count = (3, 5)[self.cells[1]]"], 5),
        (["self.cells[1] = -2", "self.count = (3, 5)[self.cells[1]]"], 3),
        (["self.count = 2", "for each in (1, self.count): self.count = self.count * 3 + each"], 23),
    ],
)
def test_what_is_fixed_is_written_out(lines, count):
    loaded = as_loaded(lamp(*lines))
    assert loaded.checked is not None, loaded.against
    for each in (loaded, rs.loads(print_model(loaded.checked.tree), "lamp")):
        found = rs.explore(each, invariants=f"lamp.count == {count}")
        assert (found.verdict, found.states) == ("satisfied", 2)


@pytest.mark.parametrize(
    ("value", "count"), [("self.STEP + 1", 6), ("sum(self.STEP for each in (1, 2))", 10)]
)
def test_a_class_that_extends_another_may_give_constants_other_values(value, count):
    text = HEAD.format(f"self.count = {value}").replace("    other", "    STEP = 3\n    other")
    rebecs = 'Instance("lamp", Lamp, knows=["lamp"]), Instance("bright", Bright, knows=["lamp"])'
    main = f'model = Model("lamp", ({rebecs}))'
    extended = f"class Bright(Lamp, queue_size=3):\n    STEP = 5\n{main}\n"
    loaded = as_loaded(python_model(text + extended, Path("lamp.py")))
    assert loaded.checked is not None, loaded.against
    assert f"count = {count};" in print_model(loaded.checked.tree).partition("class Bright")[2]
    found = rs.explore(loaded, invariants=f"bright.count == 0 || bright.count == {count}")
    assert found.verdict == "satisfied"


def test_an_index_of_a_list_that_stands_there_is_checked():
    loaded = as_loaded(lamp("self.cells[1] = 2", "self.count = (3, 5)[self.cells[1]]"))
    found = rs.simulate(loaded, steps=1, engine="native").result
    assert (found.outcome, found.detail.partition(":")[0]) == (
        "assertion failed",
        "Array index out of bound",
    )
    with pytest.raises(UserError, match="index out of range"):
        rs.simulate(loaded, steps=1, engine="python")


def found(model, **how):
    result = rs.explore(model, limits=Limits(states=20_000), **how)
    return result.verdict, result.states, result.transitions


def test_a_number_that_leaves_32_bits_is_told_and_does_not_wrap():
    loaded = as_loaded(lamp("self.count = self.count * 2 + 1", "self.go(after=1)"))
    compiled = rs.simulate(loaded, steps=60, engine="native")
    assert compiled.result.outcome == "assertion failed"
    assert "leaves 32 bits" in compiled.result.detail
    assert "line 16" in compiled.result.detail


def test_numbers_are_wrapped_where_the_author_says_so():
    loaded = as_loaded(lamp("self.count = int32(self.count * 2 + 1)", "self.go(after=1)"))
    compiled, plain = (rs.simulate(loaded, steps=60, engine=each) for each in ("native", "python"))
    assert [each.changed for each in compiled.events] == [each.changed for each in plain.events]


def test_choices_draw_from_the_streams_of_their_sites():
    """The same numbers in both engines, also where choices share a site or name none."""
    loaded = as_loaded(
        lamp(
            "self.count = self.choose(0, 1, 2)",
            "self.cells[0] = self.choose(*SIZES, site=2)",
            "self.cells[1] = self.choose(5, 6, 7, site=2)",
            "self.cells[1] += self.choose(1, 2, site=5, weights=(0.75, 0.25))",
            "self.go(after=self.choose(*range(1, 4), site=7))",
        )
    )
    compiled, plain = (
        rs.simulate(loaded, steps=200, seed=3, engine=each) for each in ("native", "python")
    )
    assert compiled.events == plain.events


def test_a_model_whose_constructor_has_no_meaning_is_explored_and_not_printed():
    text = HEAD.format("self.go(after=1)").replace("self.go()", "self.count = len(list('ab'))", 1)
    text = text.replace("self.count = len", "self.go(); self.count = len")
    loaded = as_loaded(python_model(text, Path("lamp.py")))
    assert loaded.checked is not None
    assert "lamp.py:13: the value 'ab' has no type" in loaded.no_text
    assert rs.explore(loaded, engine="native").states == 1


def test_the_initial_values_must_fit_their_variables():
    text = HEAD.format("pass").replace("self.go()", "self.count = 'many'", 1)
    with pytest.raises(NotUnderstoodError, match="`count` starts as 'many', not of type int"):
        steps_of(python_model(text, Path("lamp.py")))
