"""Every public function has an example in its docstring, and the example is right."""

import doctest

import pytest

import rebecsim as rs
from tests.docs.markdown import ROOT

FUNCTIONS = (
    *("load", "loads", "simulate", "run", "explore", "races", "exact", "estimate", "rare"),
    *("compare", "size"),
)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_example_of_a_function_gives_what_it_shows(name, monkeypatch, capsys):
    monkeypatch.chdir(ROOT / "models")
    (example,) = doctest.DocTestFinder(recurse=False).find(
        getattr(rs, name), name, globs={"rs": rs}
    )
    assert example.examples
    ended = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example)
    assert ended.failed == 0, capsys.readouterr().out


def test_no_public_function_is_left_out():
    public = {name for name in rs.__all__ if callable(getattr(rs, name))}
    assert public - {"Checks", "Limits"} == set(FUNCTIONS)
