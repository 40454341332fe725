"""The page about the language: every construct has an example, and every example is run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from rebecsim.actors import FifoScheduler
from rebecsim.generate.module import load_model
from rebecsim.lang import parse_model, syntax, walk
from rebecsim.simulation import Tracer, simulate
from tests.docs.grammar import constructs, constructs_in
from tests.docs.markdown import ROOT, Block, read_document
from tests.docs.session import model_of

LANGUAGE = ROOT / "docs/reference/language.md"


def examples() -> Iterator[tuple[Block, str]]:
    """The blocks of the page that are accepted, each with the model that it stands for."""
    frame = ""
    for block in read_document(LANGUAGE).blocks:
        if block.language == "rebeca" and "error" not in block.options:
            text = model_of(block, frame)
            frame = text if "frame" in block.options else frame
            yield block, text


EXAMPLES = list(examples())


def test_every_construct_of_the_grammar_has_an_example() -> None:
    seen = {construct for _, text in EXAMPLES for construct in constructs_in(text)}
    for block in read_document(LANGUAGE).blocks:
        if block.options.get("file", "").endswith(".property"):
            seen |= constructs_in(block.text, "property_file")
    assert seen <= constructs()
    assert constructs() - seen == set(), "no example on the page; add one"


def test_every_kind_of_node_has_an_example() -> None:
    wanted = {
        kind
        for kind in vars(syntax).values()
        if isinstance(kind, type) and issubclass(kind, syntax.Node) and not kind.__subclasses__()
    } - {syntax.Member, syntax.Library}  # for property files, and for files that are imported
    seen = {type(node) for _, text in EXAMPLES for node in walk(parse_model(text))}
    assert wanted - seen == set()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: str(example[0]))
def test_every_example_runs(example: tuple[Block, str], tmp_path: Path) -> None:
    block, text = example
    file = tmp_path / "example.rebeca"
    file.write_text(text, "utf-8")
    tracer = Tracer()
    result = simulate(load_model(file), FifoScheduler(), max_steps=50, tracer=tracer)
    assert not result.is_violation, result
    shown = block.text if "frame" not in block.options else ""
    written = set(re.findall(r"(?<!abstract )msgsrv (?!initial)(\w+)\(", shown))
    if block.options.get("part") == "STATEMENTS":
        written = {"go"}
    served = {event.server for event in tracer.events}
    assert written <= served, "message servers that nobody calls show nothing"


def test_a_construct_without_example_is_noticed() -> None:
    bare = "reactiveclass A(2) { A() { self.go(); } msgsrv go() { } } main { A a():(); }"
    assert constructs_in(bare) <= constructs()
    assert {"while_statement: WHILE", "PRIMITIVE: float"} <= constructs() - constructs_in(bare)
    looping = bare.replace("{ } }", "{ float f = 1; while (f < 2) f *= 0x2; } }")
    assert {
        "while_statement: WHILE",
        "PRIMITIVE: float",
        "ASSIGNMENT_OPERATOR: *=",
        "INTEGER: hexadecimal",
    } <= constructs_in(looping)
