"""The folder for VS Code: its files fit together, and its colours are those of Pygments."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pygments.token import Comment, Keyword, Name, Number, Operator, String

from rebecsim.lang import check_source
from rebecsim.lang.highlighting import RebecaLexer
from rebecsim.lang.properties import parse_property

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "editors" / "vscode"
MODELS = sorted((ROOT / "models").rglob("*.rebeca")) + sorted((ROOT / "models").rglob("*.property"))


def read(name: str) -> Any:
    return json.loads((FOLDER / name).read_text("utf-8"))


GRAMMAR = read("syntaxes/rebeca.tmLanguage.json")


def test_the_manifest_names_files_that_are_there() -> None:
    manifest = read("package.json")
    given = manifest["contributes"]
    named = [manifest["main"], *(each["path"] for each in given["grammars"] + given["snippets"])]
    named += [each["configuration"] for each in given["languages"]]
    assert all((FOLDER / name).is_file() for name in named)
    assert {each["language"] for each in given["grammars"]} == {"rebeca"}
    assert given["grammars"][0]["scopeName"] == GRAMMAR["scopeName"]
    assert re.fullmatch(r"\^\d+\.\d+\.\d+", manifest["engines"]["vscode"])
    assert manifest["contributes"]["configuration"]["properties"]["rebecsim.command"]["scope"] == (
        "machine"  # a workspace that somebody else wrote must not say what is run
    )
    assert read("language-configuration.json")["comments"]["lineComment"] == "//"


def coloured(text: str) -> Iterator[tuple[int, str, str]]:
    """Cut a text as an editor does, line by line: offset, part and scope of all that has one."""
    rules = [(rule, re.compile(rule.get("match") or rule["begin"])) for rule in GRAMMAR["patterns"]]
    inside: dict[str, Any] | None = None
    offset = 0
    for line in text.splitlines(keepends=True):
        place = 0
        while place < len(line):
            if inside is not None:
                end = re.compile(inside["end"]).search(line, place)
                stop = len(line) if end is None else end.end()
                yield offset + place, line[place:stop], inside["name"]
                place, inside = stop, inside if end is None else None
                continue
            found = [(rule, match) for rule, regex in rules if (match := regex.search(line, place))]
            if not found:
                break
            rule, match = min(found, key=lambda each: each[1].start())  # the first of the nearest
            place = max(match.end(), place + 1)
            if "begin" in rule:
                inside = rule
                yield offset + match.start(), match[0], rule["name"]
            elif "captures" in rule:
                for number, capture in rule["captures"].items():
                    group = int(number)
                    yield offset + match.start(group), match[group], capture["name"]
            else:
                yield offset + match.start(), match[0], rule["name"]
        offset += len(line)


SCOPES = {
    Comment: "comment",
    String: "string",
    Number: "constant.numeric",
    Operator: "keyword.operator",
    Keyword.Constant: "constant.language",
    Keyword.Type: "storage.type",
    Keyword.Declaration: "keyword.declaration",
    Keyword: "keyword.control",
    Name.Builtin.Pseudo: "variable.language",
    Name.Decorator: "entity.name.decorator",
}


def scope_of(kind: Any) -> str | None:
    """The scope that a token of Pygments has in the grammar; None for what has no colour."""
    while kind is not None and kind not in SCOPES:
        kind = kind.parent
    return None if kind is None else SCOPES[kind]


@pytest.mark.parametrize("file", MODELS, ids=lambda file: file.name)
def test_the_grammar_colours_models_as_pygments_does(file: Path) -> None:
    text = file.read_text("utf-8")
    wanted = [""] * len(text)
    for offset, kind, part in RebecaLexer().get_tokens_unprocessed(text):
        for place in range(offset, offset + len(part)):
            wanted[place] = scope_of(kind) or ""
    got = [""] * len(text)
    for offset, part, scope in coloured(text):
        for place in range(offset, offset + len(part)):
            got[place] = scope
    for place, (one, other) in enumerate(zip(wanted, got, strict=True)):
        if text[place].isspace() or other.startswith(("entity.name.type", "entity.name.function")):
            continue
        assert other.startswith(one) if one else not other, (text[place : place + 20], one)


def filled(body: list[str]) -> str:
    """A snippet with the texts that stand at its places until others are typed."""
    text = re.sub(r"\$\{\d+\|([^,|]*)[^}]*\}", r"\1", "\n".join(body))
    text = re.sub(r"\$\{\d+:([^}]*)\}", r"\1", text)
    return re.sub(r"\$\{?\d+\}?", "", text)


def test_snippets_are_rebeca_as_they_stand() -> None:
    snippets = {
        each["prefix"]: filled(each["body"]) for each in read("snippets/rebeca.json").values()
    }
    check_source(snippets["model"])
    parse_property(snippets["property"])
    known = snippets["knownrebecs"].replace("Class name", "R known")
    inner = "\n".join((known, snippets["statevars"], "R() { }", snippets["msgsrv"]))
    sending = snippets["send"].replace("message", "name")
    inner = inner.replace("    \n}", f"    {sending}\n}}")
    check_source(f"reactiveclass R(3) {{ {inner} }} main {{ R r(r):(); }}")
    check_source(snippets["reactiveclass"] + "main { Name r():(); }")


needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")


def extension(program: Path, file: Path) -> Any:
    """What the extension does when a model is saved, with this program in the place of ours."""
    stub = Path(__file__).with_name("vscode.js")
    done = subprocess.run(
        ["node", stub, FOLDER / "extension.js", program, file],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return json.loads(done.stdout)


@needs_node
def test_saving_a_model_shows_its_problems(tmp_path: Path) -> None:
    """Columns are in UTF-16 there; a model in Python is not checked, as it would be run."""
    file = tmp_path / "a b;c.rebeca"
    file.write_text("/* \N{MATHEMATICAL BOLD SMALL A} */ wrong\n", "utf-8")
    program = tmp_path / "rebecsim"
    place = {"line": 1, "column": 9, "end_line": 1, "end_column": 14, "hint": "do", "code": "x"}
    problem = {"file": str(file), "severity": "warning", "message": "no", **place}
    program.write_text(
        f"#!{sys.executable}\nimport sys\n"
        f"assert sys.argv[1:] == ['check', '--json', {str(file)!r}]\n"
        f"print({json.dumps([problem])!r})\nsys.exit(2)\n"
    )
    program.chmod(0o755)
    assert extension(program, file) == {
        "problems": {
            file.name: [
                {
                    "range": [0, 9, 0, 14],
                    "message": "no\nhint: do",
                    "severity": 1,
                    "source": "rebecsim",
                    "code": "x",
                }
            ]
        },
        "warnings": [],
    }


@needs_node
def test_a_program_that_is_not_there_is_said_once(tmp_path: Path) -> None:
    said = extension(tmp_path / "nothing", tmp_path / "a.rebeca")
    assert said["problems"] == {}
    assert len(said["warnings"]) == 1
    assert "there is no such program" in said["warnings"][0]
