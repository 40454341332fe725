"""Random models of rebecs in a row or in a ring, most of which treat left and right alike."""

from __future__ import annotations

import re

from hypothesis import strategies as st

from tests.exploration.random_models import Drawn

__all__ = ["mirrored", "mirrored_models"]

_MIRROR = {
    "left": "right",
    "fromLeft": "fromRight",
    "a": "b",
    "p": "q",
    "u": "v",
}
_MIRROR |= {image: name for name, image in _MIRROR.items()}

_ROWS = {
    "two": "First r(s, s):(); First s(r, r):();",
    "row": "First r(r, s):(); First s(r, t):(); First t(s, t):();",
    "ring": "First r(t, s):(); First s(r, t):(); First t(s, r):();",
    "ring of four": "First r(o, s):(); First s(r, t):(); First t(s, o):(); First o(t, r):();",
}


def mirrored(text: str) -> str:
    """Give a text with left and right exchanged."""
    return re.sub(r"\w+", lambda word: _MIRROR.get(word[0], word[0]), text)


def _simple(draw: st.DrawFn, core: bool) -> str:
    match draw(st.sampled_from(["add", "copy", "flag", "send", "send", "choice", "cells", "when"])):
        case "add":
            return f"a = (a + {draw(st.sampled_from(['1', 'n', 'p', 'b']))}) % 2;"
        case "copy":
            return draw(st.sampled_from(["a = b;", "a = n;", "u = a;", "cells[0] = u == 1;"]))
        case "flag":
            return f"flag = flag {draw(st.sampled_from(['^', '&', '|']))} (a == n);"
        case "choice":
            return "a = ?(0, 1);"
        case "cells":
            return f"cells[{draw(st.sampled_from(['0', '1', 'a']))}] = a == 1 || b == 1;"
        case "when":
            return f"if (a > 0 && b > 0) {{ {_send(draw, core)} }}"
    return _send(draw, core)


def _send(draw: st.DrawFn, core: bool) -> str:
    receiver, server = draw(st.sampled_from([("left", "fromRight"), ("right", "fromLeft")]))
    arguments = draw(st.sampled_from(["a, b", "b, a", "1, 0", "n, n"]))
    timing = "" if core else draw(st.sampled_from(["", " after(1)", " after(?(1, 2))"]))
    return f"{receiver}.{server}({arguments}){timing};"


def _both_sides(draw: st.DrawFn, core: bool) -> str:
    """Draw statements that are meant to treat both sides alike; not all of them do."""
    one = _simple(draw, core)
    other = mirrored(one)
    match draw(st.sampled_from(["in turn", "in turn", "coin", "sender", "count"])):
        case "in turn":
            return f"{one} {other}"
        case "coin":
            return f"if (?(true, false)) {{ {one} }} else {{ {other} }}"
        case "sender":
            return f"if (sender == left) {{ {one} }} else if (sender == right) {{ {other} }}"
    return "n = (n + 1) % 2;"


@st.composite
def mirrored_models(draw: st.DrawFn) -> Drawn:
    """Draw a model of two to four rebecs of one class, each of which knows two neighbours."""
    core = draw(st.integers(0, 3)) == 0
    sided = [_simple(draw, core) for _ in range(draw(st.integers(1, 2)))]
    other = draw(st.permutations([mirrored(each) for each in sided]))
    tick = [_both_sides(draw, core) for _ in range(draw(st.integers(1, 2)))]
    if draw(st.integers(0, 3)) == 0:
        tick.append(_simple(draw, core))  # for one side only
    again = "" if core else " self.tick() after(2);"
    start = "self.tick();" if core or draw(st.booleans()) else "self.tick() after(1);"
    swapped = draw(st.booleans())
    parameters = "int q, int p" if swapped else "int p, int q"
    declared = "int u = 0; int v = 0;"
    text = f"""
reactiveclass First(4) {{
  knownrebecs {{ First left; First right; }}
  statevars {{ int a; int b; int n; boolean flag; boolean[2] cells; }}
  First() {{ {start} }}
  msgsrv tick() {{ int p = 0; int q = 0; {declared} {" ".join(tick)}{again} }}
  msgsrv fromLeft({parameters}) {{ {declared} {" ".join(sided)} }}
  msgsrv fromRight({mirrored(parameters) if draw(st.booleans()) else parameters}) {{
    {declared} {" ".join(other)}
  }}
}}
main {{ {draw(st.sampled_from(sorted(_ROWS.values())))} }}
"""
    return Drawn(text, core)
