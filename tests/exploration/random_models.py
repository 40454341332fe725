"""Random Timed and Core Rebeca models: a few rebecs that send each other messages."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

__all__ = ["Drawn", "models"]

SERVERS = ("ping", "pong", "tick")


@dataclass(frozen=True)
class Drawn:
    """A model's text and its dialect."""

    source: str
    core: bool


def _expression(draw: st.DrawFn, names: list[str]) -> str:
    left, right = draw(st.sampled_from(names)), draw(st.sampled_from([*names, "1", "2", "3"]))
    return f"({left} {draw(st.sampled_from(['+', '-', '*']))} {right})"


def _condition(draw: st.DrawFn, names: list[str]) -> str:
    operator = draw(st.sampled_from(["<", "==", "!=", ">="]))
    return f"{draw(st.sampled_from(names))} {operator} {draw(st.integers(-1, 3))}"


def _send(draw: st.DrawFn, names: list[str], core: bool) -> str:
    receiver = draw(st.sampled_from(["self", "other", "third", "sender_"]))
    server = draw(st.sampled_from(SERVERS))
    argument = draw(st.sampled_from([*names, "0", "1"]))
    if receiver == "sender_":
        return f"if (sender == other) {{ other.{server}({argument}); }}"
    timing = ""
    if not core:
        after = draw(st.sampled_from(["", " after(1)", " after(2)", " after(a + 1)"]))
        timing = after + draw(st.sampled_from(["", "", "", " deadline(3)", " deadline(6)"]))
    return f"{receiver}.{server}({argument}){timing};"


def _statement(draw: st.DrawFn, core: bool, depth: int = 0) -> str:
    names = ["a", "b", "x"]
    kinds = ["assign", "assign", "send", "choice", "if", "cells", "boolean", "assertion"]
    if not core:
        kinds += ["delay", "waited"]
    match draw(st.sampled_from(kinds)):
        case "assign":
            target = draw(st.sampled_from(["a", "b"]))
            return f"{target} = {_expression(draw, names)} % 3;"
        case "send":
            return _send(draw, names, core)
        case "choice":
            target = draw(st.sampled_from(["a", "b"]))
            return f"{target} = ?({draw(st.sampled_from(['0, 1', '0, 1, 2', '2, 1, 2']))});"
        case "if" if depth < 2:
            inner = _statement(draw, core, depth + 1)
            other = _statement(draw, core, depth + 1)
            return f"if ({_condition(draw, names)}) {{ {inner} }} else {{ {other} }}"
        case "cells":
            index = draw(st.sampled_from(["a", "0", "1", "2"]))
            return f"cells[{index}] = (byte)({_expression(draw, names)} % 2);"
        case "boolean":
            return f"flag = flag ^ ({_condition(draw, names)});"
        case "assertion":
            return f"assertion({_condition(draw, names)} || flag || b < 2);"
        case "delay":
            return f"delay({draw(st.integers(0, 2))});"
        case "waited":
            return "b = (now - currentMessageArrival) % 3;"
    return f"if (b > 0) {{ {_send(draw, names, core)} }}"


def _class(draw: st.DrawFn, name: str, others: list[str], core: bool) -> str:
    lines = [f"reactiveclass {name}({draw(st.integers(3, 5))}) {{"]
    lines.append(f"  knownrebecs {{ {others[0]} other; {others[1]} third; }}")
    lines.append("  statevars { int a; int b; boolean flag; byte[3] cells; }")
    after = "" if core else draw(st.sampled_from(["", " after(1)", " after(3)"]))
    lines.append(f"  {name}(int start) {{ a = start; self.tick(start){after}; }}")
    for server in SERVERS:
        priority = ""
        if not core and draw(st.booleans()) and draw(st.booleans()):
            priority = f"@priority({draw(st.integers(1, 2))}) "
        body = [_statement(draw, core) for _ in range(draw(st.integers(1, 3)))]
        if server == "tick":
            body.append(_send(draw, ["a", "b", "x"], core))
        lines.append(f"  {priority}msgsrv {server}(int x) {{ {' '.join(body)} }}")
    lines.append("}")
    return "\n".join(lines)


@st.composite
def models(draw: st.DrawFn, core: bool | None = None, ring: bool = False) -> Drawn:
    """Draw a model of two or three rebecs of one or two classes.

    With `ring`, three of one class each know the next one and the one behind that.
    """
    if core is None:
        core = draw(st.booleans()) and draw(st.booleans())
    if ring:
        text = _class(draw, "First", ["First", "First"], core)
        stations = "First p(q, r):(0); First q(r, p):(0); First r(p, q):(0);"
        return Drawn(f"{text}\nmain {{ {stations} }}\n", core)
    count = draw(st.integers(2, 3))
    classes = ["First", "Second"][: draw(st.integers(1, 2))]
    kinds = [classes[number % len(classes)] for number in range(count)]
    known = {
        name: draw(st.lists(st.sampled_from(classes), min_size=2, max_size=2)) for name in classes
    }
    texts = [_class(draw, name, known[name], core) for name in classes]
    instances = []
    for number, kind in enumerate(kinds):
        bound = []
        for wanted in known[kind]:
            fitting = [place for place, each in enumerate(kinds) if each == wanted]
            bound.append(f"r{draw(st.sampled_from(fitting))}")
        priority = ""
        if not core and draw(st.booleans()) and draw(st.booleans()):
            priority = f"@priority({draw(st.integers(1, 2))}) "
        instances.append(f"  {priority}{kind} r{number}({', '.join(bound)}):({number});")
    main = "\n".join(["main {", *instances, "}"])
    return Drawn("\n".join([*texts, main, ""]), core)
