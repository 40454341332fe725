"""Changing values of TOML texts: the text says what it said before, but for that value."""

import tomllib

import pytest
from hypothesis import given, strategies as st

from rebecsim.studies.scenarios.scenario_files import builtin_scenarios, read_scenario_text
from rebecsim.studies.scenarios.toml_edits import toml_text, with_value

TEXT = """\
# what it is about
kind = "batch"  # a kind
policies = [
    "FCFS",  # first
    "EASY",
]
settings = { refresh = 10 }

[workload]
# a log
log = "a.swf"
generate.jobs = 3

[[nodes]]
count = 1
"""
POLICIES = TEXT[TEXT.index("policies") : TEXT.index("settings")]


@pytest.mark.parametrize(
    ("path", "value", "before", "after"),
    [
        (("kind",), "yarn", 'kind = "batch"  # a kind\n', 'kind = "yarn"\n'),
        (("policies",), ["A"], POLICIES, 'policies = ["A"]\n'),
        (("settings", "refresh"), 5, "{ refresh = 10 }", "{ refresh = 5 }"),
        (("settings", "window"), 5, "{ refresh = 10 }", "{ refresh = 10, window = 5 }"),
        (("workload", "log"), None, 'log = "a.swf"\n', ""),
        (("workload", "first"), 2, "generate.jobs = 3\n", "generate.jobs = 3\nfirst = 2\n"),
        (("workload", "generate", "jobs"), 4, "generate.jobs = 3", "generate.jobs = 4"),
        (("seed",), 1, "10 }\n", "10 }\nseed = 1\n"),
        (("machine", "processors"), 9, "count = 1\n", "count = 1\n\n[machine]\nprocessors = 9\n"),
        (("seed",), None, "", ""),
        (("machine", "processors"), None, "", ""),
    ],
)
def test_one_value_changes_and_the_rest_stays(path, value, before, after):
    assert with_value(TEXT, path, value) == TEXT.replace(before, after)


def test_what_cannot_be_changed_in_its_place_is_written_anew():
    edited = with_value(TEXT, ("workload",), None)
    assert "[workload]" not in edited
    assert tomllib.loads(edited) == {
        key: value for key, value in tomllib.loads(TEXT).items() if key != "workload"
    }


@pytest.mark.parametrize("name", builtin_scenarios())
def test_scenarios_are_written_as_they_are_read(name):
    values = dict(read_scenario_text(name).values)
    assert tomllib.loads(toml_text(values)) == values


KEYS = st.sampled_from(["a", "b", "c d", 'é"', ""])
SCALARS = st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False) | st.text(max_size=5)
VALUES = SCALARS | st.lists(SCALARS, max_size=3)
TABLES = st.recursive(
    st.dictionaries(KEYS, VALUES, max_size=3),
    lambda inner: st.dictionaries(KEYS, VALUES | inner | st.lists(inner, max_size=2), max_size=3),
    max_leaves=6,
)


@given(TABLES, st.lists(KEYS, min_size=1, max_size=3), st.none() | VALUES)
def test_whatever_is_changed_the_text_says_that_and_what_it_said(values, path, value):
    text = toml_text(values)
    assert tomllib.loads(text) == values
    table = values
    for key in path[:-1]:
        table = table.get(key, {})
        if not isinstance(table, dict):
            return
    if value is not None:
        edited = with_value(text, tuple(path), value)
        found = tomllib.loads(edited)
        for key in path:
            found = found[key]
        assert found == value
    else:
        assert tomllib.loads(with_value(text, tuple(path), None)).keys() <= values.keys()
