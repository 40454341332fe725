"""What the step of a model looks like; what it does is tested in tests/native."""

import ast
from pathlib import Path

import pytest

from rebecsim.generate.step import NotNativeError, step_source
from rebecsim.lang import check_source

MODELS = Path(__file__).resolve().parents[2] / "models"

BUY = """
@compiled("void(int64, int64[::1], int64[::1], int64[:, ::1], int64[:, ::1], int64[::1], \
uint64[:, ::1], int64[::1])", borrows=True, inline=True)
def Office_buy(base, cells, message, sends, rebecs, ctx, streams, choices):
    # line 17
    left = base
    customer = message[ARGUMENTS]
    ctx[NOW] += (1, 2)[choose(ctx, streams, choices, 2, 1)]  # line 18
    if cells[left] > 0:  # line 19
        cells[left] = int32(cells[left] - 1)  # line 20
        receiver = sendable(ctx, customer)  # line 21
        if ctx[FAILED] != 0:
            return
        sends[ctx[SENDS], ARGUMENTS] = True
        send(ctx, rebecs, sends, receiver, 1, 0, NEVER)  # ticket
        if ctx[FAILED] != 0:
            return
"""


def test_the_step_of_a_model_is_pinned():
    """What a reader sees of a small model, kept as it is on purpose."""
    text = (MODELS / "ticket_service.rebeca").read_text()
    source = step_source(check_source(text, "ticket_service.rebeca"), "ticket_service.rebeca")
    ast.parse(source.text)
    assert BUY in source.text
    assert '"""The step of ticket_service.rebeca over flat cells' in source.text


def function(text, name):
    """Give the function of this name in a module, without comments."""
    tree = next(each for each in ast.parse(text).body if getattr(each, "name", "") == name)
    return ast.unparse(tree)


def test_constants_and_the_number_of_rebecs_do_not_show_in_methods():
    model = """env int LIMIT = {limit};
    reactiveclass A(3) {{
      knownrebecs {{ {known} }}
      statevars {{ int x; int[2] v; int[{length}] w; }}
      A() {{ self.go(); }}
      int pick(int k) {{ return k < LIMIT ? x : v[k & 1]; }}
      msgsrv go() {{ x = pick(3); }}
    }}
    main {{ {main} }}"""
    one = model.format(limit=3, known="A p;", length=2, main="A a(a):();")
    two = model.format(limit=70, known="A p; A q;", length=5, main="A a(a,b):(); A b(b,a):();")
    texts = [step_source(check_source(text)).text for text in (one, two)]
    for name in ("A_pick", "A_go"):
        assert function(texts[0], name) == function(texts[1], name)


def test_names_that_steps_use_themselves_are_changed():
    text = """
    env int base = 3;
    reactiveclass cells(3) {
        knownrebecs { cells ctx; }
        statevars { int message; int params; int step; int where; int[2] choices; int element; }
        cells() { self.send(1); }
        int value(int store) { int test; test = store; where = test; return test + base; }
        msgsrv send(int streams) { message = value(streams); choices[message & 1] = element++; }
    }
    main { cells a(a):(); }
    """
    tree = ast.parse(step_source(check_source(text)).text)
    names = [each.name for each in tree.body if isinstance(each, ast.FunctionDef)]
    assert names == ["cells_value", "cells_send", "step"]


def test_recursive_methods_are_refused():
    text = """reactiveclass A(2) { A() { self.go(); }
      int even(int k) { return k == 0 ? 1 : odd(k - 1); }
      int odd(int k) { return k == 0 ? 0 : even(k - 1); }
      msgsrv go() { even(3); } }
    main { A a():(); }"""
    with pytest.raises(NotNativeError, match="no recursive methods"):
        step_source(check_source(text))
