"""Changing values of TOML texts: the text says what it said before, but for that value."""

import tomllib

import pytest
from hypothesis import given, strategies as st

from rebecsim.studies.scenario_files import builtin_scenarios, read_scenario_text
from rebecsim.studies.toml_edits import toml_text, with_value

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


LISTS = """\
name = "many"

[[jobs]]  # the large ones
maps = 3
[jobs.arrivals]
gap = 1.0

# those of the others
[[jobs]]
maps = 1

[machine]
nodes = [{ count = 1 }, { count = 2 }]
"""
LARGE = LISTS[LISTS.index("\n[[jobs]]  #") : LISTS.index("\n# those")]


@pytest.mark.parametrize(
    ("path", "value", "before", "after"),
    [
        (("jobs", 1, "maps"), 9, "maps = 1", "maps = 9"),
        (("jobs", 1, "maps"), None, "maps = 1\n", ""),
        (("jobs", 0, "arrivals", "gap"), 2.0, "gap = 1.0", "gap = 2.0"),
        (("jobs", 1, "user"), "a", "maps = 1\n", 'maps = 1\nuser = "a"\n'),
        (
            ("jobs", 1, "arrivals", "law"),
            "poisson",
            "maps = 1\n",
            'maps = 1\narrivals = { law = "poisson" }\n',
        ),
        (("jobs", 1), None, "[[jobs]]\nmaps = 1\n\n", "\n"),
        (("jobs", 0), None, LARGE, ""),
        (
            ("jobs", 2),
            {"maps": 5, "costs": {"map": 1}},
            "maps = 1\n",
            "maps = 1\n\n[[jobs]]\nmaps = 5\n\n[jobs.costs]\nmap = 1\n",
        ),
        (
            ("jobs", 0, "changes", 0),
            {"at": 2},
            "gap = 1.0\n",
            "gap = 1.0\n\n[[jobs.changes]]\nat = 2\n",
        ),
        (("machine", "nodes", 1), None, "[{ count = 1 }, { count = 2 }]", "[{ count = 1 }]"),
        (("machine", "nodes", 2), {}, "{ count = 2 }]", "{ count = 2 }, {}]"),
        (("machine", "nodes", 0, "count"), 4, "{ count = 1 }", "{ count = 4 }"),
        (("pools", 0), {}, "{ count = 2 }]\n", "{ count = 2 }]\n\n[[pools]]\n"),
    ],
)
def test_a_table_of_a_list_comes_goes_and_changes(path, value, before, after):
    assert before in LISTS
    assert with_value(LISTS, path, value) == LISTS.replace(before, after)


def test_a_list_without_tables_goes():
    text = "[[jobs]]\nmaps = 3\n"
    assert with_value(text, ("jobs", 0), None).strip() == ""


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


ENTRIES = st.lists(st.dictionaries(KEYS, VALUES | TABLES, max_size=3), min_size=1, max_size=4)


@given(TABLES, KEYS, ENTRIES, st.data())
def test_whatever_is_done_to_a_list_of_tables_the_text_says_so(values, key, entries, data):
    values = values | {key: entries}
    place = data.draw(st.integers(0, len(entries)))
    new = None if place < len(entries) else data.draw(TABLES)
    edited = tomllib.loads(with_value(toml_text(values), (key, place), new))
    wanted = [*entries[:place], *([] if new is None else [new]), *entries[place + 1 :]]
    assert edited.pop(key, []) == wanted
    assert edited == {name: value for name, value in values.items() if name != key}
