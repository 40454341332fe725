"""`self.x`: the same program as with `x`, and not the local variable of that name."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import cast

import pytest

from rebecsim.actors import FifoScheduler
from rebecsim.generate import NotNativeError, build_model, step_source
from rebecsim.generate.module import python_source
from rebecsim.lang import CheckedModel, check_file, check_source, syntax
from rebecsim.lang.printer import print_model
from rebecsim.lang.traversal import rewritten
from rebecsim.simulation import Tracer, simulate

MODELS = sorted((Path(__file__).resolve().parents[2] / "models").rglob("*.rebeca"))


def with_self(checked: CheckedModel) -> syntax.Model:
    """The model with `self.` before all its own variables, and before calls of its methods."""

    def change(node: syntax.Node) -> syntax.Node:
        symbol = checked.symbols.get(id(node))
        if symbol is not None and symbol.kind in ("state", "known"):
            return syntax.OwnVariable(cast(syntax.Name, node).identifier)
        if isinstance(node, syntax.Call) and not checked.is_function(node):
            return syntax.Send(syntax.Name("self"), node.method, node.arguments)
        return node

    classes = tuple(
        cast(syntax.ReactiveClass, rewritten(each, change)) for each in checked.tree.classes
    )
    return syntax.Model(
        checked.tree.env_variables, classes, checked.tree.instances, checked.tree.interfaces
    )


def programs(text: str, checked: CheckedModel) -> list[str]:
    read = check_source(text, dialect=checked.dialect)
    found = [python_source(read)]
    with suppress(NotNativeError):
        found.append(step_source(read).text)
    return found


@pytest.mark.parametrize("file", MODELS, ids=lambda file: file.stem)
def test_self_changes_nothing_where_the_names_are_free(file: Path) -> None:
    checked = check_file(file)
    plain = print_model(checked.tree)
    written = print_model(with_self(checked))
    assert "self." in written
    assert programs(written, checked) == programs(plain, checked)


SHADOWED = """
reactiveclass A(2) {
    statevars { int x; int i; int rounds; }
    A(int x) { self.x = x; self.go(5); }
    int sum(int x) { return self.x + x; }
    msgsrv go(int x) {
        for (int i = 0; self.i < 3; i++) { self.i += 1; rounds = i; }
        self.x = x + self.sum(100);
    }
}
main { A a():(7); }
"""


def test_self_reads_and_writes_past_a_local_variable() -> None:
    model = build_model(check_source(SHADOWED))
    tracer = Tracer()
    simulate(model, FifoScheduler(), tracer=tracer)
    (event,) = tracer.events
    assert dict(event.changed) == {"x": 112, "i": 3, "rounds": 2}
