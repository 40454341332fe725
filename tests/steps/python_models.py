"""Random models of Rebec classes, as the Python text that an author would write."""

from __future__ import annotations

from hypothesis import strategies as st

__all__ = ["sources"]

HEAD = """from __future__ import annotations
from rebecsim.actors import (
    Boolean, Instance, Int, Model, Rebec, known_rebec, message_server, require, state_variable,
)

LIMIT = 3
TABLE = [2, 0, 1]


def cut(x: int, most: int) -> int:
    return min(x, most)
"""
CLASS = """

class {name}(Rebec, queue_size=4):
    other: Second = known_rebec()
    third: First = known_rebec()
    a: int = state_variable(Int)
    b: int = state_variable(Int)
    flag: bool = state_variable(Boolean)
    cells: list[int] = state_variable(Int[3])

    def __init__(self, start: int) -> None:
        self.a = start
        self.ping(start)

    def mixed(self, x: int, y: int) -> int:
{mixed}

    def step(self, x: int) -> None:
{step}

    @message_server
    def ping(self, x: int) -> None:
{ping}

    @message_server
    def pong(self, x: int) -> None:
{pong}
"""
MAIN = """

model = Model(
    "drawn",
    (
        Instance("one", First, knows=["two", "one"], arguments=[1]),
        Instance("two", Second, knows=["two", "one"], arguments=[{start}]),
    ),
    core={core},
)
"""
OPERATORS = ("+", "-", "*")


class _Body:
    """Draws the statements of one function; `names` are whole numbers that it may read."""

    def __init__(self, draw: st.DrawFn, names: list[str], core: bool, kinds: list[str]) -> None:
        self.draw = draw
        self.names = names
        self.core = core
        self.kinds = kinds

    def pick(self, *choices: str) -> str:
        return self.draw(st.sampled_from(choices))

    def number(self, depth: int = 0) -> str:
        simple = [*self.names, "self.a", "self.b", "LIMIT", "1", "2", "-1", "0"]
        if depth > 1:
            return self.pick(*simple)
        one, two = self.number(depth + 1), self.number(depth + 1)
        kinds = ("name", "name", "sum", "floor", "rest", "if", "element", "least", "table")
        match self.pick(*kinds, "total", "cut", "listed"):
            case "sum":
                return f"({one} {self.pick(*OPERATORS)} {two})"
            case "floor":
                return f"({one}) // {self.pick('2', '3', 'LIMIT')}"
            case "rest":
                return f"({one}) % {self.pick('2', '3')}"
            case "if":
                return f"({one} if {self.test(depth + 1)} else {two})"
            case "element":
                return f"self.cells[{one} % 3{self.pick('', ' - 1', ' - 3')}]"
            case "table":
                return f"TABLE[{one} % 3]"
            case "total":
                test = f"TABLE[k] {self.pick('>', '==')} {one}"
                return f"sum(self.cells[k] for k in range(3) if {test})"
            case "cut":
                return f"cut({self.pick(*simple)}, {self.pick(*simple)})"
            case "listed":
                return f"({one}, {two}, self.a)[{self.pick(*simple)} % 3]"
            case "least":
                return f"{self.pick('min', 'max')}({one}, {two}, abs({two}))"
        return self.pick(*simple)

    def test(self, depth: int = 0) -> str:
        one, two = self.number(depth + 1), self.number(depth + 1)
        match self.pick("compare", "chain", "flag", "not", "in", "sender", "number", "any"):
            case "any":
                items = self.pick("TABLE", "(self.a, 1)")
                return f"{self.pick('any', 'all')}(each < {one} for each in {items})"
            case "chain":
                return f"0 <= {one} < {two}"
            case "flag":
                return f"self.flag {self.pick('and', 'or')} {one} > {two}"
            case "not":
                return f"not ({one} == {two} or self.flag)"
            case "in":
                return f"{one} {self.pick('in', 'not in')} (0, 2)"
            case "sender" if "send" in self.kinds:
                return f"self.sender {self.pick('is', 'is not')} self.{self.pick('other', 'third')}"
            case "number":
                return f"({one})"
        return f"{one} {self.pick('<', '<=', '==', '!=')} {two}"

    def statements(self, depth: int = 1) -> str:
        count = self.draw(st.integers(1, 3 if depth == 1 else 2))
        return "\n".join(self.statement(depth) for _ in range(count))

    def statement(self, depth: int) -> str:
        pad = "    " * (depth + 1)
        kinds = ["assign", "assign", "cell", "local", "flag", "augmented", "swap", *self.kinds]
        if depth < 3:
            kinds += ["if", "for", "elif"]
        match self.pick(*kinds):
            case "cell":
                return f"{pad}self.cells[{self.number(1)} % 3] = {self.number()} % 3"
            case "local":
                return f"{pad}found = {self.number()} % 4\n{pad}self.b = found - 1"
            case "flag":
                return f"{pad}self.flag = {self.number(1)} < {self.number(1)}"
            case "augmented":
                return (
                    f"{pad}self.a {self.pick('+=', '-=')} {self.number(1)} % 2\n"
                    f"{pad}self.a %= {self.pick('3', 'LIMIT')}"
                )
            case "swap":
                return f"{pad}self.a, self.b = self.b % 3, self.a"
            case "if":
                return f"{pad}if {self.test()}:\n{self.statements(depth + 1)}"
            case "elif":
                return (
                    f"{pad}if {self.test()}:\n{self.statements(depth + 1)}\n"
                    f"{pad}elif {self.test()}:\n{self.statements(depth + 1)}\n"
                    f"{pad}else:\n{self.statements(depth + 1)}"
                )
            case "for":
                listed = ("(1, 2)", "(self.b, self.a + 1)")
                over = self.pick("range(3)", "range(2, -1, -1)", "TABLE", "self.cells", *listed)
                end = self.pick("", "break", "continue") if over not in listed else ""
                tail = f"\n{pad}    if self.b == each:\n{pad}        {end}" if end else ""
                inner = f"{pad}    self.b = (self.b + each) % 3"
                return f"{pad}for each in {over}:{tail}\n{inner}"
            case "send":
                return pad + self.send()
            case "choice":
                return f"{pad}self.b = self.choose({self.pick('0, 1', '0, 1, 2', '*TABLE')})"
            case "delay":
                return f"{pad}self.delay({self.pick('1', 'abs(self.a) % 2')})"
            case "call":
                return f"{pad}self.step({self.number(1)})"
            case "value":
                call = f"self.mixed({self.number(1)}, y={self.number(1)})"
                return f"{pad}got = {call}\n{pad}self.b = got % 3"
            case "require":
                return f'{pad}require({self.test()}, "kept")'
        return f"{pad}self.{self.pick('a', 'b')} = {self.number()} % 3 - 1"

    def send(self) -> str:
        receiver, server = self.pick("self", "self.other", "self.third"), self.pick("ping", "pong")
        times = ""
        if not self.core:
            times = self.pick("", ", after=1", ", after=2", ", after=abs(self.a) % 2 + 1")
            times += self.pick("", "", ", deadline=3")
        return f"{receiver}.{server}({self.number(1)} % 2{times})"


@st.composite
def sources(draw: st.DrawFn) -> str:
    """Draw the text of a model."""
    core = draw(st.booleans())
    text = HEAD
    serving = ["send", "send", "choice", "call", "value", *([] if core else ["delay"])]
    if draw(st.integers(0, 3)) == 0:
        serving.append("require")
    for name in ("First", "Second"):
        bodies = {
            "mixed": _Body(draw, ["x", "y"], core, []).statements()
            + f"\n        return {_Body(draw, ['x', 'y'], core, []).number()}",
            "step": _Body(draw, ["x"], core, ["value"]).statements(),
            "ping": _Body(draw, ["x"], core, serving).statements(),
            "pong": _Body(draw, ["x"], core, serving).statements(),
        }
        text += CLASS.format(name=name, **bodies)
    return text + MAIN.format(core=core, start=draw(st.integers(0, 2)))
