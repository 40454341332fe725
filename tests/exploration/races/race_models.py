"""Random models for races: small, with finitely many states, cyclic and terminating."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.exploration.random_models import Drawn

__all__ = ["race_models"]

_CHECKS = ("assertion(a != 2);", "assertion(x != a);", "assertion(!flag || x > 0);")


def _statement(draw: st.DrawFn, core: bool) -> str:
    kinds = ["a = x;", "if (a == 0) { a = x; }", "a = (2 * a + x) % 3;", "flag = x > me;"]
    kinds += ["a = (a + x) % 3;", "flag = !flag;", "a = ?(0, 1);"]
    kinds += [f"if (a == {draw(st.integers(0, 2))}) {{ {_send(draw, core)} }}", "choose"]
    kinds += ["send"] * 3
    if not core:
        kinds += [f"delay({draw(st.integers(0, 2))});", "delay(?(1, 2));"]
    if draw(st.integers(0, 11)) == 0:
        kinds = list(_CHECKS)
    chosen = draw(st.sampled_from(kinds))
    if chosen == "send":
        return _send(draw, core)
    if chosen == "choose":
        return f"if (?(true, false)) {{ {_send(draw, core)} }}"
    return chosen


def _send(draw: st.DrawFn, core: bool) -> str:
    receiver = draw(st.sampled_from(["other", "other", "other", "third", "third", "self"]))
    server = draw(st.sampled_from(["ping", "pong"]))
    timing = ""
    if not core:
        timing = draw(st.sampled_from(["", "", " after(1)", " after(2)"]))
        timing += draw(st.sampled_from(["", "", "", " deadline(1)", " deadline(2)"]))
    return f"{receiver}.{server}({draw(st.sampled_from(['me', 'me', 'a', 'x', '1']))}){timing};"


@st.composite
def race_models(draw: st.DrawFn, core: bool | None = None) -> Drawn:
    """Draw a model: one or two classes, two or three rebecs that tick a few times or for ever."""
    if core is None:
        core = draw(st.integers(0, 3)) == 0
    count = draw(st.integers(2, 3))
    classes = ["First", "Second"][: draw(st.integers(1, 2))]
    texts = []
    for name in classes:
        again = "" if core else f" after({draw(st.integers(1, 3))})"
        ticks = draw(st.sampled_from(["never", "twice", "ever", "ever"]))
        start = "" if core else draw(st.sampled_from(["", "", " after(1)"]))
        lines = [f"reactiveclass {name}({draw(st.sampled_from([1, 2, 3, 4, 6, 6]))}) {{"]
        lines.append("  knownrebecs { First other; First third; }")
        lines.append("  statevars { int a; int me; boolean flag; byte left; }")
        lines.append(f"  {name}(int start) {{ me = start; left = 1; self.tick(start){start}; }}")
        body = _send(draw, core) + " " + _statement(draw, core)
        if ticks == "ever":
            body += f" self.tick(x){again};"
        if ticks == "twice":
            body += f" if (left > 0) {{ left--; self.tick(x){again}; }}"
        priority = _priority(draw, core)
        lines.append(f"  {priority}msgsrv tick(int x) {{ {body} }}")
        for server in ("ping", "pong"):
            body = " ".join(_statement(draw, core) for _ in range(draw(st.integers(1, 2))))
            lines.append(f"  {_priority(draw, core)}msgsrv {server}(int x) {{ {body} }}")
        texts.append("\n".join([*lines, "}"]))
    kinds = [classes[number % len(classes)] for number in range(count)]
    firsts = [number for number, kind in enumerate(kinds) if kind == "First"]
    instances = []
    for number, kind in enumerate(kinds):
        bound = f"r{firsts[0]}, r{draw(st.sampled_from(firsts))}"
        instances.append(f"  {_priority(draw, core)}{kind} r{number}({bound}):({number});")
    return Drawn("\n".join([*texts, "main {", *instances, "}"]), core)


def _priority(draw: st.DrawFn, core: bool) -> str:
    if core or draw(st.integers(0, 4)):
        return ""
    return f"@priority({draw(st.integers(1, 2))}) "
