"""Every public name of `rebecsim` has an example in its docstring, and the example is right."""

import doctest
import shutil

import pytest

import rebecsim as rs
from tests.docs.markdown import ROOT

NAMES = [name for name in rs.__all__ if callable(getattr(rs, name))]


@pytest.mark.parametrize("name", NAMES)
def test_the_example_of_a_name_gives_what_it_shows(name, tmp_path, monkeypatch, capsys):
    shutil.copy(ROOT / "models/ticket_service.rebeca", tmp_path)
    monkeypatch.chdir(tmp_path)
    finder = doctest.DocTestFinder(recurse=False)
    (example,) = finder.find(getattr(rs, name), name, globs={"rs": rs})
    assert example.examples
    ended = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example)
    assert ended.failed == 0, capsys.readouterr().out
