"""What the step of a model looks like; what it does is tested in tests/native."""

import ast
from pathlib import Path

import pytest

from rebecsim.clusters.scenarios import load_scenario, plan_scenario
from rebecsim.generate import NotNativeError, step_source
from rebecsim.lang import check_source

MODELS = Path(__file__).resolve().parents[2] / "models"

BUY = """
@compiled("void(int64, int64[::1], int64[::1], int64[:, ::1], int64[:, ::1], int64[::1], \
uint64[:, ::1], int64[::1])", inline=True)
def Office_buy(base, cells, message, sends, rebecs, ctx, streams, choices):
    # line 17
    left = base
    customer = message[ARGUMENTS]
    ctx[NOW] += pick((1, 2), choose(ctx, streams, choices, 2, 1, 1))  # line 18
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


def code(text):
    """Give the functions of a module, without comments."""
    tree = ast.parse(text)
    return [ast.unparse(each) for each in tree.body if isinstance(each, ast.FunctionDef)]


OFFICE = """reactiveclass Office(9) {{
  knownrebecs {{ {known} }}
  statevars {{ boolean[{number}] free; int[2] counts; int done; }}
  Office() {{ self.go(); }}
  int chosen(int k) {{ return counts[k]; }}
  msgsrv go() {{ {runs} self.go() after(1); }}
  msgsrv ready(int clerk) {{ free[clerk] = true; done += chosen(clerk); }}
}}
reactiveclass Clerk(3) {{
  knownrebecs {{ Office office; }} statevars {{ int me; }} Clerk(int number) {{ me = number; }}
  msgsrv work(int amount) {{ office.ready(me) after(amount); }}
}}
main {{ Office office({names}):(); {mains} }}"""


def office(number):
    """Give the step of an office with so many clerks."""
    clerks = [f"c{place}" for place in range(number)]
    text = OFFICE.format(
        number=number,
        known=" ".join(f"Clerk {name};" for name in clerks),
        names=", ".join(clerks),
        runs=" ".join(
            f"if (free[{place}]) {{ {name}.work(?(1, 2)); free[{place}] = false; }}"
            for place, name in enumerate(clerks)
        ),
        mains=" ".join(f"Clerk {name}(office):({place});" for place, name in enumerate(clerks)),
    )
    return step_source(check_source(text))


def test_what_is_done_for_each_known_rebec_is_one_loop_whatever_their_number():
    one, two, five = office(1), office(2), office(5)
    assert code(one.text) == code(two.text) == code(five.text)
    assert len(one.params) < len(two.params) < len(five.params)
    go = function(five.text, "Office_go")
    assert go.count("for row in range(") == 1
    assert go.count("send(") == 2  # the one of the run and the one to itself
    for each in (one, two, five):  # every row of numbers lies in the table
        assert all(0 <= each.params[server] < len(each.params) for server in each.servers.values())


def test_all_sizes_of_a_cluster_have_the_same_step():
    plan = plan_scenario(load_scenario("for_edf"))
    steps = {
        policy: {
            tuple(code(step_source(check_source(cell.setup.model_text)).text))
            for cell in plan.cells
            if cell.name.startswith(f"{policy}_")
        }
        for policy in ("edf", "fifo", "mdf", "priority")
    }
    assert [len(texts) for texts in steps.values()] == [1, 1, 1, 1]


@pytest.mark.parametrize(
    "statements",
    [
        "a.go(); self.go();",  # another kind of receiver
        "if (x > 1) { x++; } if (x > 1) { y++; }",  # another variable
        "if (x > 1) { x++; } if (x >= 2) { x++; }",  # another operator
        "x = 1; x = 2;",  # not worth a loop
        "while (x > 1) { if (x > 2) { break; } if (x > 3) { break; } x--; }",
        "while (x > 1) { x--; if (x > 2) { continue; } if (x > 3) { continue; } }",
    ],
)
def test_other_statements_are_no_run(statements):
    text = f"""reactiveclass A(9) {{ knownrebecs {{ A a; }} statevars {{ int x; int y; }}
      A() {{ self.go(); }} msgsrv go() {{ {statements} }} }} main {{ A a(a):(); }}"""
    assert "for row in" not in step_source(check_source(text)).text


def test_locals_that_are_assigned_within_expressions_are_kept_in_an_array():
    text = """reactiveclass A(9) { statevars { int x; int[3] v; } A() { self.go(1); }
      msgsrv go(int n) { int k = 2; int m = 5; m++; x = k++ + --n + m; v[n++ & 1]++; } }
    main { A a():(); }"""
    go = function(step_source(check_source(text)).text, "A_go")
    assert "kept = room(np.int64, 3)" in go  # k, n and the place in v
    assert ":=" not in go
    assert "m = int32(m + 1)" in go  # a statement of its own


def test_names_that_steps_use_themselves_are_changed():
    text = """
    env int base = 3;
    reactiveclass cells(3) {
        knownrebecs { cells ctx; }
        statevars { int message; int params; int step; int where; int[2] choices; int element;
            int numbers; int sites; int kept; int row; int[2] choices_length; }
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
    with pytest.raises(NotNativeError, match="does not run recursive methods"):
        step_source(check_source(text))
