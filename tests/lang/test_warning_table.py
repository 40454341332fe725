"""Every warning with the smallest input that is warned of, and what is just not warned of."""

from __future__ import annotations

import re

import pytest

from rebecsim.lang import Diagnostic, RebecaError, check_source, parse_model, print_model
from tests.lang.bad_inputs import (
    MAIN,
    MARK,
    body,
    place_of,
)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("always-late", "self.m(1) after(5) deadline(¶3);"),
        ("always-late", "self.m(1) deadline(¶1 + 2) after(?(9, 4));"),
        ("always-late", "self.m(1) after(5) deadline(¶?(4, 3));"),
    ],
)
def test_the_smallest_input_that_is_warned_of(code: str, text: str) -> None:
    (warning,) = warnings_of(text.replace(MARK, ""))
    assert (warning.code, warning.severity) == (code, "warning")
    assert (warning.span.line, warning.span.column) == place_of(body, text)
    assert re.match(r"model\.rebeca:3:\d+: warning: this message is always late", str(warning))


def test_priority_in_capitals_is_warned_of_and_orders_nothing() -> None:
    text = f"reactiveclass A(1) {{ @Priority(1) @GLOBALPRIORITY(2) msgsrv m() {{ }} }} {MAIN}"
    for dialect in ("timed", "core"):
        checked = check_source(text, "model.rebeca", dialect)
        assert [each.code for each in checked.warnings] == ["annotation-capital"] * 2
        (server,) = checked.classes["A"].servers
        assert (server.priority, server.global_priority) == (None, None)
    assert checked.warnings[0].hint == "write @priority, or remove it"


AS_PRINTED = """
reactiveclass Office {
    knownrebecs { Customer customer; }
    statevars { int issued; }
    msgsrv ask() { issued = issued + 1; customer.given(issued); }
}
reactiveclass Customer extends Person {
    knownrebecs { Office office; }
}
abstract reactiveclass Person {
    msgsrv initial() { self.given(0); }
    msgsrv given(int number) { }
}
main { Office office(customer):(); Customer customer(office):(); }
"""


def test_classes_as_papers_print_them_have_a_queue_that_is_named() -> None:
    checked = check_source(AS_PRINTED, "model.rebeca")
    assert [each.code for each in checked.warnings] == ["queue-size-left-out"] * 3
    assert "`Office` has no queue size, so its queue has room for 10 messages" in str(
        checked.warnings[0]
    )
    assert {each.queue_size for each in checked.classes.values()} == {10}


def test_all_mistakes_of_a_model_without_queue_sizes_are_found_at_once() -> None:
    text = AS_PRINTED.replace("int issued", "intt issued").replace("self.given(0)", "self.gven(0)")
    with pytest.raises(RebecaError) as caught:
        check_source(text, "model.rebeca")
    assert {each.code for each in caught.value.diagnostics} >= {"unknown-type", "unknown-server"}


def test_a_queue_size_that_is_left_out_stays_so_when_printed() -> None:
    printed = print_model(parse_model(AS_PRINTED, "model.rebeca"))
    assert "reactiveclass Office {" in printed


@pytest.mark.parametrize(
    "text",
    [
        "self.m(1) after(3) deadline(3);",
        "self.m(1) after(?(5, 3)) deadline(3);",
        "self.m(1) after(5) deadline(?(3, 5));",
        "self.m(1) after(5) deadline(x);",
        "self.m(1) after(x) deadline(3);",
        "self.m(1) deadline(0);",
        "self.m(1) after(5);",
    ],
)
def test_a_deadline_that_can_be_met_is_not_warned_of(text: str) -> None:
    assert warnings_of(text) == ()


def test_a_value_that_nobody_uses_may_be_missing() -> None:
    text = "int f(int x) { if (x > 1) { return x; } } msgsrv go() { f(2); f(0); }"
    checked = check_source(f"reactiveclass A(2) {{ {text} }}\n{MAIN}", "model.rebeca")
    assert [(each.code, each.severity) for each in checked.warnings] == [
        ("return-unused", "warning")
    ]


def warnings_of(text: str) -> tuple[Diagnostic, ...]:
    in_server = f"statevars {{ int x; }} msgsrv m(int p) {{ }} msgsrv go() {{\n{text}\n}}"
    return check_source(f"reactiveclass A(2) {{\n{in_server}\n}}\n{MAIN}", "model.rebeca").warnings
