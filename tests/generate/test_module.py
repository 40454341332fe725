"""Generated Python computes what the model says, whatever it says."""

import ast
import math
from pathlib import Path

from hypothesis import HealthCheck, given, note, settings, strategies as st

from rebecsim.actors import enabled, execute
from rebecsim.generate import build_model, python_source
from rebecsim.lang import check_source, parse_model
from rebecsim.simulation import state_of
from tests.examples import dear
from tests.generate.interpreter import Interpreter
from tests.generate.programs import PROGRAMS

MODELS = Path(__file__).resolve().parents[2] / "models"


def final_state(text, choices):
    remaining = list(choices)
    model = build_model(check_source(text, "test.rebeca"), "test.rebeca")
    system = model.start(lambda rebec, values, site: remaining.pop(0) % len(values))
    system.choose = lambda rebec, values, site: remaining.pop(0) % len(values)
    execute(system, enabled(system)[0])
    return state_of(system.rebec("a"))


def same(ours, theirs):
    if isinstance(ours, float):
        return (math.isnan(ours) and math.isnan(theirs)) or ours == float(theirs)
    return ours == theirs


@settings(max_examples=dear(100), suppress_health_check=[HealthCheck.too_slow])
@given(PROGRAMS, st.lists(st.integers(0, 2), min_size=1, max_size=1))
def test_generated_code_agrees_with_an_interpreter(text, choices):
    note(text)
    choices = choices * 10_000
    checked = check_source(text, "test.rebeca")
    note(python_source(checked))
    interpreter = Interpreter(parse_model(text), choices)
    interpreter.run("go")
    ours = final_state(text, choices)
    differing = {name for name, value in interpreter.state.items() if not same(ours[name], value)}
    assert differing == set()


def test_constructors_may_be_overloaded_inherited_and_called():
    text = """
    reactiveclass Base(3) {
        statevars { int n; }
        Base() { n = 1; }
        Base(int k) { n = k; self.go(); }
        msgsrv go() { n += 10; }
    }
    reactiveclass Middle extends Base(3) {
        statevars { boolean b; }
        Middle(boolean given) { super(5); b = given; }
        Middle(int k, int j) { super(); n += k * j; }
    }
    main { Base a():(); Base b():(7); Middle c():(true); Middle d():(2, 3); }
    """
    system = build_model(check_source(text, "test.rebeca")).start()
    assert [state_of(rebec) for rebec in system.rebecs] == [
        {"n": 1},
        {"n": 7},
        {"n": 5, "b": True},
        {"n": 7, "b": False},
    ]
    assert [len(rebec._bag) for rebec in system.rebecs] == [0, 1, 1, 0]


def test_names_that_python_does_not_allow_are_changed_and_remembered():
    text = """
    env int lambda = 3;
    reactiveclass Model(3) {
        knownrebecs { Model None; }
        statevars { int self_; int now_; int yield; int len; int __x; int choose; int[2] print; }
        Model() { yield = lambda; }
        msgsrv import(int def, int Model_) {
            int int32; int range;
            for (int element = 0; element < 2; element++) { range += element; }
            int32 = def; len = int32 + range; __x = Model_; choose = ?(4, 4); print[1] = lambda;
            None.print();
        }
        msgsrv print() { self.import(1, 2); }
        int delay_() { return 1; }
        msgsrv choose() { yield = delay_(); }
    }
    main { Model a(a):(); }
    """
    checked = check_source(text, "test.rebeca")
    model = build_model(checked)
    system = model.start(lambda rebec, count, site: 0)
    a = system.rebec("a")
    assert {server.name for server in type(a).__servers__.values()} == {"import", "print", "choose"}
    system.actor = a
    type(a).__servers__["import_"].handler(a, 5, 6)
    state = state_of(a)
    assert (state["yield"], state["len"], state["__x"], state["choose"]) == (3, 6, 6, 4)
    assert state["print"] == [0, 3]


def test_the_module_of_a_model_is_pinned():
    """What a reader sees of a small model, kept as it is on purpose."""
    text = (MODELS / "ticket_service.rebeca").read_text()
    source = python_source(check_source(text, "ticket_service.rebeca"), "ticket_service.rebeca")
    ast.parse(source)
    assert BUY in source
    assert 'Instance("bob", Customer, knows=["office"], arguments=[1]),' in source


BUY = """
    @message_server
    def buy(self, customer: Customer) -> None:
        # ticket_service.rebeca, line 17
        self.delay(self.choose(1, 2, site=1))  # line 18
        if self.left > 0:  # line 19
            self.left = int32(self.left - 1)  # line 20
            customer.ticket(True)  # line 21
        else:
            customer.ticket(False)  # line 23
"""


def test_a_case_that_falls_through_stands_once():
    text = """
        reactiveclass A(2) {
          statevars { int x; int y; }
          A() { self.go(3); }
          msgsrv go(int n) {
            switch (n) {
              case 3: x = 1; case 5: y += 2; break;
              case 7: case 8: x = 9; default: y += 4;
            }
          }
        }
        main { A a():(); }
    """
    model = build_model(check_source(text))
    source = python_source(check_source(text), "falling.rebeca")
    assert source.count("self.y = ") == 2
    ended = {}
    for value in (3, 5, 7, 8, 0):
        system = model.start()
        a = system.rebec("a")
        system.actor = a
        type(a).__servers__["go"].handler(a, value)
        ended[value] = (state_of(a)["x"], state_of(a)["y"])
    assert ended == {3: (1, 2), 5: (0, 2), 7: (9, 4), 8: (9, 4), 0: (0, 4)}


def test_a_global_priority_counts_even_where_its_class_has_no_rebec():
    text = """
        reactiveclass A(2) { A() { self.go(); } msgsrv go() { } }
        reactiveclass B(2) { @globalPriority(1) msgsrv go() { } }
        main { @priority(1) A a():(); @priority(2) A b():(); }
    """
    assert build_model(check_source(text)).uses_global_priority
