from __future__ import annotations

import time
import tomllib

import pytest

from rebecsim.studies.scenario_files import key_lines, line_of, most_parts

TEXT = '''\
# a comment with [brackets] and "quotes
name = "x # no comment [[no]]"
"quoted key" = 1
a.b . c = 2
text = """
[not.a.table]
key = 1 """
numbers = [
  1, # one ]
  2,
]

[table] # comment
key = { inner = 1, other = [2] }

[[list]]
value = 'single "'

[[list]]
value = 2.5
[list.sub]
deep = 3
[[list.more]]
z = 1
[[list.more]]
z = 2
'''


def test_every_key_and_header_has_its_line():
    tomllib.loads(TEXT)
    assert dict(key_lines(TEXT)) == {
        ("name",): 2,
        ("quoted key",): 3,
        ("a",): 4,
        ("a", "b"): 4,
        ("a", "b", "c"): 4,
        ("text",): 5,
        ("numbers",): 8,
        ("table",): 13,
        ("table", "key"): 14,
        ("list",): 16,
        ("list", 0): 16,
        ("list", 0, "value"): 17,
        ("list", 1): 19,
        ("list", 1, "value"): 20,
        ("list", 1, "sub"): 21,
        ("list", 1, "sub", "deep"): 22,
        ("list", 1, "more"): 23,
        ("list", 1, "more", 0): 23,
        ("list", 1, "more", 0, "z"): 24,
        ("list", 1, "more", 1): 25,
        ("list", 1, "more", 1, "z"): 26,
    }


def test_what_has_no_line_of_its_own_is_found_at_what_is_around_it():
    lines = key_lines(TEXT)
    assert line_of(("numbers", 1), lines) == 8
    assert line_of(("table", "key", "inner"), lines) == 14
    assert line_of(("list", 1, "absent"), lines) == 19
    assert line_of(("absent",), lines) is None


def test_nested_and_unended_texts_do_not_confuse_the_lines():
    text = 'a = "\\""\nb = \'\'\'x\'\'\'\'\nc = """\\""""\nd = [[1], [2,\n3]]\ne = 1'
    tomllib.loads(text)
    assert dict(key_lines(text)) == {("a",): 1, ("b",): 2, ("c",): 3, ("d",): 4, ("e",): 6}


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", 1),
        ("a = 1", 1),
        ("a.b = 'c.d.e' # f.g.h", 2),
        ("a . 'b.c' .\t\"d.e\" = 1.5", 3),
        ("[[a.b]]\nc.d.e.f = 1", 4),
        ('a = """x.y\n.z."""\nb = { c.d.e = 1 }', 3),
        ("a = 1\nb.c = 2", 2),
        ("a.b.'", 3),
    ],
)
def test_the_parts_of_the_longest_key_are_counted(text, parts):
    assert most_parts(text) == parts


@pytest.mark.parametrize("text", ['\\"""x\n', '\\"', "\\'''x\n", "a.'", '"""'])
def test_strings_without_an_end_are_read_once(text):
    began = time.monotonic()
    most_parts(text * 100_000)
    assert time.monotonic() - began < 20  # each alone takes minutes if read again and again
