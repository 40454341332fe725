"""The language server: what it answers to an editor on standard input and output."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from rebecsim.lang import check_file, check_source, syntax, walk
from rebecsim.language_server.answers import declaration, hover, nodes_at
from rebecsim.language_server.server import server
from tests.conftest import Run
from tests.lang.test_formatting import LAID_OUT, LAYOUT

MODELS = Path(__file__).resolve().parents[2] / "models"
TICKETS = MODELS / "ticket_service.rebeca"
URI = "file:///models/tickets.rebeca"
OPTIONS = {"tabSize": 4, "insertSpaces": True}


class Editor:
    """Speaks with a server; all that is said is known beforehand."""

    def __init__(self, text: str, uri: str = URI) -> None:
        self._text = text
        self._said: list[dict[str, Any]] = []
        self._ask("initialize", processId=None, rootUri=None, capabilities={})
        self._tell("initialized")
        opened = {"uri": uri, "languageId": "rebeca", "version": 1, "text": text}
        self._tell("textDocument/didOpen", textDocument=opened)

    def _tell(self, method: str, **parameters: Any) -> None:
        self._said.append({"jsonrpc": "2.0", "method": method, "params": parameters})

    def _ask(self, method: str, **parameters: Any) -> int:
        self._tell(method, **parameters)
        self._said[-1]["id"] = len(self._said)
        return len(self._said)

    def ask_at(self, method: str, word: str, after: str = "") -> int:
        """Ask about the first place of a word, behind another text; columns in UTF-16."""
        offset = self._text.index(word, self._text.index(after) + len(after))
        before = self._text[:offset]
        column = len(before.rpartition("\n")[2].encode("utf-16-le")) // 2
        position = {"line": before.count("\n"), "character": column}
        return self._ask(method, textDocument={"uri": URI}, position=position)

    def ask(self, method: str, **more: Any) -> int:
        """Ask about the whole text."""
        return self._ask(method, textDocument={"uri": URI}, **more)

    def change(self, text: str) -> None:
        """Put another text in its place."""
        self._tell(
            "textDocument/didChange",
            textDocument={"uri": URI, "version": 2},
            contentChanges=[{"text": text}],
        )

    def answers(self) -> tuple[dict[int, Any], list[list[dict[str, Any]]]]:
        """Say it all: the answers by number, and the diagnostics of each text."""
        self._ask("shutdown")
        self._tell("exit")
        heard = _Kept()
        server().start_io(io.BytesIO(b"".join(map(_framed, self._said))), heard)
        said = list(_parts(heard.getvalue()))
        assert not [each for each in said if "error" in each]
        published = [
            each["params"]["diagnostics"]
            for each in said
            if each.get("method") == "textDocument/publishDiagnostics"
        ]
        return {each["id"]: each["result"] for each in said if "id" in each}, published


class _Kept(io.BytesIO):
    """Can be read when the server has closed it."""

    def close(self) -> None: ...


def _framed(message: dict[str, Any]) -> bytes:
    body = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def _parts(data: bytes) -> Any:
    while data:
        head, _, data = data.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split()[0])
        yield json.loads(data[:length])
        data = data[length:]


def test_mistakes_come_and_go_while_one_types() -> None:
    text = TICKETS.read_text("utf-8")
    editor = Editor(text.replace("left--", "lft--"))
    editor.change(text)
    _, (wrong, right) = editor.answers()
    assert right == []
    (mistake,) = wrong
    line = text[: text.index("left--")].count("\n")
    assert mistake["range"] == {
        "start": {"line": line, "character": 12},
        "end": {"line": line, "character": 15},
    }
    assert (mistake["severity"], mistake["source"]) == (1, "rebecsim")
    assert mistake["message"] == "there is no variable `lft` here\nhint: did you mean `left`?"


HOVERS = [
    ("left", "if (", "int left  // a state variable"),
    ("customer.ticket", "buy(", "Customer customer  // a parameter"),
    ("ticket(true)", "customer.", "msgsrv ticket(boolean sold)"),
    ("office.buy", "true;", "Office office  // a known rebec"),
    ("think()", "self.", "msgsrv think()"),
    ("Customer customer", "buy(", "reactiveclass Customer(5)"),
    ("bob", "main", "Customer bob  // a rebec of main"),
    ("?(1, 2)", "", "int  // type of ?(1, 2)"),
]


def test_hovering_says_what_a_name_is_and_of_which_type() -> None:
    editor = Editor(TICKETS.read_text("utf-8"))
    asked = []
    for word, after, _ in HOVERS:
        place = word.partition("(")[0] if word.startswith(("ticket", "think")) else word
        asked.append(editor.ask_at("textDocument/hover", place, after))
    answers, _ = editor.answers()
    shown = [answers[number]["contents"]["value"] for number in asked]
    assert shown == [f"```rebeca\n{text}\n```" for _, _, text in HOVERS]


def test_behind_self_stands_a_state_variable_whatever_else_has_its_name() -> None:
    text = "reactiveclass A(2) {\n    statevars { byte x; }\n    A(int x) { self.x = 1; }\n}\n"
    checked = check_source(text + "main { A a():(0); }")
    found = hover(checked, 3, 21)
    assert found is not None
    assert found[0] == "byte x  // a state variable"
    around = nodes_at(checked.tree, 3, 21)
    assert declaration(checked, around) == checked.tree.classes[0].state_variables[0]


def test_a_definition_is_found_behind_letters_that_take_two_units() -> None:
    """An editor counts in UTF-16, where such a letter is two units long."""
    text = (
        "reactiveclass R(2) { statevars { int n; } R() { self.m(); }\n"
        "/* \N{MATHEMATICAL BOLD SMALL A} */ msgsrv m() { n = 1; } }\nmain { R r():(); }\n"
    )
    editor = Editor(text)
    variable = editor.ask_at("textDocument/definition", "n = 1")
    message = editor.ask_at("textDocument/definition", "m();", "self.")
    server_at = editor.ask_at("textDocument/hover", "n = 1")
    answers, published = editor.answers()
    assert published == [[]]
    assert answers[variable]["range"]["start"] == {"line": 0, "character": text.index("n;")}
    start = {"line": 1, "character": text.splitlines()[1].index("msgsrv") + 1}
    assert answers[message] == {"uri": URI, "range": answers[message]["range"] | {"start": start}}
    assert answers[server_at]["range"]["start"]["character"] == 22


def test_the_outline_has_what_the_text_has() -> None:
    editor = Editor(TICKETS.read_text("utf-8"))
    asked = editor.ask("textDocument/documentSymbol")
    answers, _ = editor.answers()
    shown = {each["name"]: [inner["name"] for inner in each["children"]] for each in answers[asked]}
    assert shown == {
        "Office": ["left", "Office", "buy", "refill"],
        "Customer": ["office", "tickets", "asking", "Customer", "think", "ticket"],
        "office": [],
        "ann": [],
        "bob": [],
    }


def test_a_text_that_cannot_be_read_is_no_trouble() -> None:
    editor = Editor("reactiveclass {")
    asked = [
        editor.ask("textDocument/documentSymbol"),
        editor.ask_at("textDocument/hover", "reactiveclass"),
        editor.ask_at("textDocument/definition", "{"),
    ]
    answers, (published,) = editor.answers()
    assert [answers[each] for each in asked] == [None, None, None]
    assert len(published) == 1


@pytest.mark.parametrize("name", ["ticket_service", "teaching/yarn_fifo2"])
def test_every_name_of_a_model_is_known(name: str) -> None:
    checked = check_file(MODELS / f"{name}.rebeca")
    asked = 0
    for node in walk(checked.tree):
        if isinstance(node, syntax.Name | syntax.TypeName | syntax.Send) and node.span.line:
            found = hover(checked, node.span.line, node.span.column)
            basic = isinstance(node, syntax.TypeName) and node.name in ("int", "boolean", "void")
            assert found is not None or basic, node
            asked += found is not None
    assert asked > 20


def test_without_the_package_it_is_said_what_to_install(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "rebecsim.language_server.server")
    monkeypatch.setitem(sys.modules, "pygls.lsp.server", None)
    done = run("lsp")
    assert (done.returncode, done.stdout) == (2, "")
    assert "pip install 'rebecsim[lsp]'" in done.stderr


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_text_is_laid_out_with_its_comments(end: str) -> None:
    editor = Editor(LAYOUT.replace("\n", end))
    number = editor.ask("textDocument/formatting", options=OPTIONS)
    (edit,) = editor.answers()[0][number]
    assert edit["newText"] == LAID_OUT
    assert edit["range"]["start"] == {"line": 0, "character": 0}
    assert edit["range"]["end"]["line"] >= LAYOUT.count("\n")


def test_what_is_laid_out_or_cannot_be_is_left_alone() -> None:
    for text, expected in ((LAID_OUT, []), ("reactiveclass {", None)):
        editor = Editor(text)
        number = editor.ask("textDocument/formatting", options=OPTIONS)
        assert editor.answers()[0][number] == expected


def test_an_imported_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "odd.rebeca").write_bytes(b"\n\xff")
    editor = Editor('import "odd.rebeca";\n', (tmp_path / "a.rebeca").as_uri())
    ((found,),) = editor.answers()[1]
    assert found["range"]["start"] == {"line": 0, "character": 0}
    assert "odd.rebeca:2:1: error: byte 0xff is not UTF-8" in found["message"]


def test_what_is_imported_is_found_in_its_file() -> None:
    part = """import "lib/station.rebeca";

reactiveclass Door(3) {
    knownrebecs { Station station; }
    msgsrv ring() { station.arrive(); }
}
"""
    editor = Editor(part)
    asked = editor.ask_at("textDocument/definition", "arrive")
    outlined = editor.ask("textDocument/documentSymbol")
    editor.change(part.replace("lib/station", "no"))
    answers, published = editor.answers()
    assert answers[asked]["uri"].endswith("/rebecsim/lib/station.rebeca")
    assert answers[asked]["range"]["start"] == {"line": 3, "character": 4}
    assert [each["name"] for each in answers[outlined]] == ["Door"]
    assert published[0] == []  # a file without main can be imported
    assert [each["range"]["start"] for each in published[1]] == [{"line": 0, "character": 7}]
    assert "there is no file `no.rebeca` to import" in published[1][0]["message"]
