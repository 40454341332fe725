"""The doc tests themselves: they must notice what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.markdown import ROOT, Block, read_document
from tests.docs.session import (
    Piped,
    Run,
    Session,
    commands_of,
    matches,
    piped_of,
    words_of,
)

LAMP = "reactiveclass Lamp(2) {\n  // STATEMENTS\n}\nmain { Lamp lamp():(); }\n"


def block(language: str, text: str, **options: str) -> Block:
    return Block(ROOT / "README.md", 1, language, options, text)


@pytest.mark.parametrize(
    ("printed", "expected", "same"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("\na  \nb\n\n", "a\nb", True),
        ("a\nb\n", "a\n", False),
        ("a\nx\ny\nb\n", "a\n...\nb\n", True),
        ("a\nb\n", "a\n...\nb\n", True),
        ("a\nb\n", "...\nc\n", False),
        ("took 3.2 s\n", "took ... s\n", True),
        ("took 3.2 min\n", "took ... s\n", False),
        ("a+b\n", "aab\n", False),
    ],
)
def test_outputs_are_compared(printed, expected, same):
    assert matches(printed, expected) is same


def test_a_console_block_is_cut_into_commands():
    text = "$ one \\\n    more\nout\n  put\n$ two\n"
    assert commands_of(block("console", text)) == [("one  more", "out\n  put\n"), ("two", "")]


def test_a_document_is_read(tmp_path: Path):
    file = tmp_path / "page.md"
    file.write_text("# A page, isn't it?\n[x](y.md#z)\n```toml file=a.toml\n# [no](link)\n```\n")
    document = read_document(file)
    assert document.links == [(2, "y.md#z")]
    assert document.anchors == {"a-page-isnt-it"}
    assert document.blocks == (Block(file, 4, "toml", {"file": "a.toml"}, "# [no](link)\n"),)
    file.write_text("```toml\n")
    with pytest.raises(ValueError, match="not closed"):
        read_document(file)


@pytest.mark.parametrize(
    "wrong",
    [
        block("console", "$ echo yes\nno\n"),
        block("console", "$ exit 1\n"),
        block("console", "$ true\n", exit="2"),
        block("console", "$ rebecsim check nothing.rebeca\n"),
        block("toml", 'name = "x"\n'),
        block("rebeca", "main { }\n"),
        block("rebeca", LAMP, error="unknown-name"),
        block("rebeca", "x = 1;\n", part="STATEMENTS"),
        block("rebeca", LAMP, excerpt="models/ticket_service.rebeca"),
        block("python", "assert False\n"),
        block("python", "what is\n", elsewhere=""),
        block("text", "something\n", output=""),
        block("cobol", "STOP RUN.\n"),
    ],
    ids=lambda wrong: f"{wrong.language}-{'-'.join(wrong.options)}",
)
def test_a_wrong_block_is_noticed(wrong: Block, tmp_path: Path, run: Run):
    with pytest.raises((AssertionError, Exception)) as caught:
        Session(tmp_path, run).do(wrong)
    assert not isinstance(caught.value, KeyError)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("rebecsim check a.rebeca", ("check", "a.rebeca")),
        ("rebecsim query 'select a > 2' \"x; $y\"", None),
        ("rebecsim query 'select a > 2 -- $' \"a | b\"", ("query", "select a > 2 -- $", "a | b")),
        ("rebecsim check a.rebeca | tail -1", None),
        ("rebecsim check *.rebeca", None),
        ("X=1 rebecsim cache", None),
        ("ls models", None),
    ],
)
def test_only_what_needs_no_shell_is_run_without_one(command: str, words: tuple[str, ...] | None):
    assert words_of(command) == words


@pytest.mark.parametrize(
    ("command", "piped"),
    [
        ("rebecsim check a.rebeca", Piped("", ("check", "a.rebeca"), "")),
        ("echo 'a | b' | rebecsim step x", Piped("echo 'a | b'", ("step", "x"), "")),
        ("rebecsim runs '< a | b' | tail -1 | wc", Piped("", ("runs", "< a | b"), "tail -1 | wc")),
        ("rebecsim runs a > b.txt", Piped("", ("runs", "a"), "cat > b.txt")),
        ("rebecsim step a < b.txt", Piped("cat < b.txt", ("step", "a"), "")),
        ("echo 1 | rebecsim runs | rebecsim runs", None),
        ("cp a b && rebecsim check b", None),
        ("X=1 rebecsim cache | tail -1", None),
        ("rebecsim check *.rebeca | tail -1", None),
        ("rebecsim check a.rebeca 2> b.txt", None),
        ("ls | tail -1", None),
    ],
)
def test_pipes_are_cut_at_the_program(command: str, piped: Piped | None) -> None:
    assert piped_of(command) == piped


def test_what_a_pipe_does_is_the_same_without_the_shell(tmp_path: Path, run: Run) -> None:
    model = "models/ticket_service.rebeca"
    for number, command in enumerate(
        (
            f"printf '1\\nundo\\n' | rebecsim step {model} | tail -3",
            f"rebecsim simulate {model} --until 9 > made.txt",
            f"rebecsim check {model} missing.rebeca | grep -c ok",
        )
    ):
        ended = []
        for way in (run, None):
            (place := tmp_path / f"{number}{way is None}").mkdir()
            session = Session(place, way)
            done = session._done(command)
            written = [file.read_text() for file in session.home.glob("*.txt")]
            ended.append((done.returncode, done.stdout, done.stderr, written))
        assert ended[0] == ended[1]


def test_parts_go_into_the_frame(tmp_path: Path):
    session = Session(tmp_path)
    session.do(block("rebeca", LAMP, frame=""))
    session.do(block("rebeca", "msgsrv on() { }\n", part="STATEMENTS"))
    session.do(block("rebeca", "msgsrv on() { x = 1; }\n", part="STATEMENTS", error="unknown-name"))
    with pytest.raises(AssertionError, match="no place"):
        session.do(block("rebeca", "", part="NOWHERE"))
