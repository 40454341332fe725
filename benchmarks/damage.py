"""The inputs of this project, and what a few random changes make of them, for `fuzz.py`."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

NUMBERS = ["-1", "0", "127", "128", "255", "2147483647", "2147483648", "9" * 19, "9" * 60]
NUMBERS += ["1e999", "0.5", "0x7f", "1_000", "nan", "inf"]
NAMES = re.findall(
    r"\S+",
    "class None lambda print eval exec int Int Float list vars locals self sender now model main "
    "Model Message Scheduler System Rebec message_server state_variable Boolean object type "
    f"__init__ __class__ __dict__ _x __ été \u017f 数 {'x' * 300}",
)
MARKS = re.findall(r"\S+", '\' " """ \\ // /* */ # ; { } ( ) [ ] ? , ?(1) {{x}} {%raw%}')
MARKS += ["\0", "\x1b[31m", "\r", "\ufeff", "\u2028", "\ud7ff"]
TOKENS = re.compile(r"\w+|\s+|[^\w\s]")


@dataclass(frozen=True)
class Source:
    """An input to damage: the text, and for a property file the model that it is about."""

    file: str
    text: str
    language: str = "timed"
    model: Path | None = None


# --- inputs ---------------------------------------------------------------------------------------


@cache
def sources(kind: str) -> tuple[Source, ...]:
    """Give the inputs of a kind, in a fixed order."""
    if kind == "scenario":
        scenarios = sorted((ROOT / "models/scenarios").glob("*.toml"))
        return tuple(Source(file.name, file.read_text("utf-8")) for file in scenarios)
    if kind == "trace":
        traces = sorted((ROOT / "tests/data/containers").iterdir())
        return tuple(Source(file.name, file.read_text("utf-8")) for file in traces)
    suite = ROOT / "tests/data/conformance"
    languages = {entry["file"]: entry["language"] for entry in _manifest(suite)}
    models = sorted([*(ROOT / "models").rglob("*.rebeca"), *suite.glob("*.rebeca")])
    if kind == "model":
        return tuple(
            Source(file.name, file.read_text("utf-8"), languages.get(file.name, "timed"))
            for file in models
            if file.parent.name != "benchmarks"
        )
    properties = sorted([*(ROOT / "models").rglob("*.property"), *suite.glob("*.property")])
    found: list[Source] = []
    for file in properties:
        model = file.with_name(file.name.partition(".")[0] + ".rebeca")
        if model.exists():
            language = languages.get(model.name, "timed")
            found.append(Source(file.name, file.read_text("utf-8"), language, model))
    return tuple(found)


def _manifest(suite: Path) -> list[dict[str, Any]]:
    import json

    entries: list[dict[str, Any]] = json.loads((suite / "manifest.json").read_text("utf-8"))[
        "models"
    ]
    return entries


# --- changes --------------------------------------------------------------------------------------


def damaged(kind: str, seed: int, number: int) -> tuple[Source, bytes]:
    """Give an input and what has become of it; depends on the arguments only."""
    chance = random.Random(f"{kind} {seed} {number}")
    source = chance.choice(sources(kind))
    text = source.text
    for _ in range(chance.choice((1, 1, 1, 1, 2, 2, 3, 4))):
        text = chance.choice(CHANGES)(chance, text)
    content = text.encode("utf-8", "replace")
    if chance.random() < 0.1:
        content = _other_bytes(chance, content)
    return source, content


def _other_bytes(chance: random.Random, content: bytes) -> bytes:
    place = chance.randrange(len(content) + 1)
    return chance.choice(
        [
            content[:place],
            content[:place] + bytes([chance.randrange(256)]) + content[place:],
            content[:place] + bytes([chance.randrange(256)]) + content[place + 1 :],
        ]
    )


def _some(chance: random.Random, parts: Sequence[str]) -> str:
    """Delete, repeat, swap or move some parts."""
    parts = list(parts)
    if not parts:
        return ""
    first, second = (chance.randrange(len(parts)) for _ in range(2))
    match chance.randrange(4):
        case 0:
            del parts[first]
        case 1:
            parts[first:first] = [parts[first]] * chance.choice((1, 1, 2, 30))
        case 2:
            parts[first], parts[second] = parts[second], parts[first]
        case _:
            parts.insert(second, parts.pop(first))
    return "".join(parts)


def _lines(chance: random.Random, text: str) -> str:
    return _some(chance, text.splitlines(keepends=True))


def _tokens(chance: random.Random, text: str) -> str:
    return _some(chance, TOKENS.findall(text))


def _other_token(chance: random.Random, text: str) -> str:
    tokens = TOKENS.findall(text)
    words = [place for place, token in enumerate(tokens) if not token.isspace()]
    if words:
        pool = chance.choice((NUMBERS, NAMES, MARKS, tokens))
        tokens[chance.choice(words)] = chance.choice(pool)
    return "".join(tokens)


def _other_number(chance: random.Random, text: str) -> str:
    found = list(re.finditer(r"\b\d+\b", text))
    if not found:
        return text
    start, end = chance.choice(found).span()
    return text[:start] + chance.choice(NUMBERS) + text[end:]


def _other_name(chance: random.Random, text: str) -> str:
    """Call something otherwise, everywhere."""
    names = sorted(set(re.findall(r"\b[A-Za-z_]\w*\b", text)))
    if not names:
        return text
    name: str = chance.choice(names)
    other: str = chance.choice(NAMES + names)
    return re.sub(rf"\b{name}\b", lambda _: other, text)


def _branches(text: str) -> list[tuple[int, int]]:
    """Give where the brackets of a text are, each with its partner."""
    found, open_at = [], []
    for place, character in enumerate(text):
        if character in "([{":
            open_at.append(place)
        elif character in ")]}" and open_at:
            found.append((open_at.pop(), place + 1))
    return found


def _tree(chance: random.Random, text: str) -> str:
    """Delete, repeat, swap or nest what stands in brackets."""
    branches = _branches(text)
    if not branches:
        return text
    start, end = chance.choice(branches)
    inner = text[start:end]
    match chance.randrange(4):
        case 0:
            return text[:start] + text[end:]
        case 1:
            return text[:end] + inner * chance.choice((1, 3)) + text[end:]
        case 2:
            other_start, other_end = chance.choice(branches)
            return text[:start] + text[other_start:other_end] + text[end:]
        case _:
            depth = chance.choice((1, 2, 20, 100, 400))
            return text[:start] + inner[0] * depth + inner + inner[-1] * depth + text[end:]


def _mark(chance: random.Random, text: str) -> str:
    place = chance.randrange(len(text) + 1)
    mark: str = chance.choice([*MARKS, *NAMES, *NUMBERS])
    return text[:place] + mark + text[place:]


CHANGES: tuple[Callable[[random.Random, str], str], ...] = (
    _lines,
    _tokens,
    _other_token,
    _other_number,
    _other_name,
    _tree,
    _mark,
)
