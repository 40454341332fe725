"""What a few random changes make of an input of a reader, for `fuzz.py`.

A change is one of the bytes, of the text with its lines, words and brackets, or of the values that
a file in JSON, TOML or XML has: those are removed, renamed, repeated, and made of another type.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any, Literal

Form = Literal["text", "json", "toml", "xml"]

DEEP, LONG = 10_000, 70_000
"""How deep hostile values are nested, and how long they are."""


def _words(text: str) -> list[str]:
    return text.split()


NUMBERS = _words("-1 0 1 127 128 255 65536 2147483647 2147483648 -2147483649 1e308 -1e308 1e999")
NUMBERS += _words("1e-320 0.5 -0.0 0x7f 1_000 nan inf -inf NaN Infinity \u0663 \uff11\uff12 \u00b2")
NUMBERS += ["9" * 19, "9" * 60, "1" + "0" * 400, "9" * 5000]
NAMES = _words(
    "class None lambda print eval exec int Int Float list vars locals self sender now model main "
    "Model Message Scheduler System Rebec message_server state_variable Boolean object type "
    f"__init__ __class__ __dict__ _x __ été \u017f 数 {'x' * 300}"
)
PATHS = _words("/dev/null /dev/zero / . .. ../canary/kept no/such/file ~ C:\\x")
MARKS = _words(
    '\' " """ \\ // /* */ # ; { } ( ) [ ] ? , ?(1) {{x}} {%raw%} [bold] & < : \x1b[31m \ufeff'
)
MARKS += ["\0", "\r", "\r\n", "\u2028", "\ud7ff", "\t", "x" * LONG, "[" * DEEP + "]" * DEEP]
MARKS += [each * DEEP for each in "[({-!"]
TOKENS = re.compile(r"\w+|\s+|[^\w\s]")

_JSON = [each for each in NUMBERS if re.fullmatch(r"-?\d[0-9.e+-]*|NaN|-?Infinity", each)]
_JSON += _words("""null true false [] {} "" "\\u0000" "\\ud800" [[]] {"":0}""")
_JSON += ["[" * DEEP + "]" * DEEP, '{"a":' * DEEP + "1" + "}" * DEEP, f'"{"x" * LONG}"']
_JSON += [json.dumps(each) for each in (*PATHS, *NUMBERS, "[red]", "a\nb", "\x1b[2J", "=1+1")]
_TOML = [each for each in _JSON if each != "null" and "\\ud800" not in each]
_TOML += _words("nan inf -inf 1979-05-27 07:32:00 0o17 [1,'a'] {a=1} ")
_XML = [*NUMBERS, *PATHS, "", " ", "\0", "x" * LONG, "<a>" * DEEP, "1 mb, 1 vcores"]
_XML += _words("true [memory=1] 50% root * &#0; &lol; <!----> a,b,a <![CDATA[1]]>")

_PLACE = "\ue000value\ue000"
"""Stands in a tree of values for a text that no such tree can have."""

Change = Callable[[random.Random, str], str]


def damaged(content: bytes, form: Form, chance: random.Random, packed: bool = False) -> bytes:
    """Change an input one to three times; if it may be `packed`, sometimes also by gzip."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:  # what a library has written
        return _other_bytes(chance, content)
    for _ in range(chance.choice((1, 1, 1, 1, 1, 2, 2, 3))):
        changes = CHANGES if form == "text" else (*CHANGES, *[_IN_FORM[form]] * len(CHANGES))
        text = chance.choice(changes)(chance, text)
    content = text.encode("utf-8", "replace")
    if chance.random() < 0.1:
        content = _other_bytes(chance, content)
    if packed and chance.random() < 0.05:
        content = gzip.compress(content, mtime=0)
        if chance.random() < 0.5:
            content = _other_bytes(chance, content)
    return content


# --- bytes ----------------------------------------------------------------------------------------


def _other_bytes(chance: random.Random, content: bytes) -> bytes:
    place = chance.randrange(len(content) + 1)
    before, after = content[:place], content[place:]
    one = bytes([chance.randrange(256)])
    match chance.randrange(9):
        case 0:
            return before
        case 1:
            return before + one + after
        case 2:
            return before + one + after[1:]
        case 3:
            return content + content
        case 4:
            return b"\xef\xbb\xbf" + content
        case 5:
            return content.replace(b"\n", b"\r\n")
        case 6:
            return (
                before + chance.choice((b"\xff\xfe", b"\xed\xa0\x80", b"\xc3", b"\0" * 9)) + after
            )
        case 7:
            return content.decode("utf-8", "replace").encode("utf-16")
        case _:
            return b""


# --- text -----------------------------------------------------------------------------------------


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
        pool = chance.choice((NUMBERS, NAMES, MARKS, PATHS, tokens))
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


def _brackets(chance: random.Random, text: str) -> str:
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
            depth = chance.choice((1, 2, 20, 100, 400, DEEP))
            return text[:start] + inner[0] * depth + inner + inner[-1] * depth + text[end:]


def _mark(chance: random.Random, text: str) -> str:
    place = chance.randrange(len(text) + 1)
    mark: str = chance.choice([*MARKS, *NAMES, *NUMBERS])
    return text[:place] + mark + text[place:]


CHANGES: tuple[Change, ...] = (
    _lines,
    _tokens,
    _other_token,
    _other_number,
    _other_name,
    _brackets,
    _mark,
)
"""Those of any text."""


# --- values ---------------------------------------------------------------------------------------


def _json(chance: random.Random, text: str) -> str:
    """Change a value of a JSON text, or of one of several that follow each other."""
    values, place = [], 0
    decoder = json.JSONDecoder()
    try:
        while rest := text[place:].lstrip():
            place = len(text) - len(rest)
            value, place = decoder.raw_decode(text, place)
            values.append(value)
        found = _value(chance, values, _JSON)
        return "\n".join(_filled(json.dumps(each), each_raw) for each, each_raw in found)
    except (ValueError, RecursionError, IndexError):  # spoilt by the change before
        return _other_token(chance, text)


def _toml(chance: random.Random, text: str) -> str:
    try:
        ((values, raw),) = _value(chance, [tomllib.loads(text)], _TOML)
        lines = [f"{json.dumps(key)} = {_inline(value)}" for key, value in values.items()]
        return _filled("\n".join(lines) + "\n", raw)
    except (ValueError, RecursionError, IndexError, AttributeError):
        return _other_token(chance, text)


def _inline(value: Any) -> str:
    """Write a value as TOML in one line."""
    if isinstance(value, dict):
        pairs = ", ".join(f"{json.dumps(key)} = {_inline(each)}" for key, each in value.items())
        return f"{{ {pairs} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_inline, value))}]"
    if isinstance(value, (bool, str)):
        return json.dumps(value)
    return str(value)


def _value(
    chance: random.Random, values: list[Any], hostile: Sequence[str]
) -> list[tuple[Any, str]]:
    """Change a value somewhere in these; gives each with the text that `_PLACE` stands for."""
    holders: list[tuple[Any, Any]] = [(values, place) for place in range(len(values))]
    for holder, key in holders:  # which grow meanwhile
        inner = holder[key]
        if isinstance(inner, (dict, list)):
            holders += [
                (inner, each) for each in (inner if isinstance(inner, dict) else range(len(inner)))
            ]
    holder, key = chance.choice(holders)
    other, other_key = chance.choice(holders)
    raw: str = chance.choice(hostile)
    kind = chance.randrange(6)
    if kind == 0 and holder is not values:
        del holder[key]
    elif kind == 1 and isinstance(holder, dict):
        holder[chance.choice([*NAMES, *map(str, holder), ""])] = holder.pop(key)
    elif kind == 2:
        holder[key] = json.loads(json.dumps(other[other_key], default=str))
    elif kind == 3 and isinstance(holder, list):
        times = chance.choice((1, 1, 30, 1000))
        holder[key:key] = [holder[key]] * times
    else:
        holder[key] = _PLACE
    return [(each, raw) for each in values]


def _filled(text: str, raw: str) -> str:
    return text.replace(json.dumps(_PLACE), raw)


def _xml(chance: random.Random, text: str) -> str:
    """Change an element of an XML text: its place, its name, its text or an attribute."""
    try:
        root = ET.fromstring(text)
    except (ValueError, ET.ParseError):  # spoilt by the change before
        return _other_token(chance, text)
    elements = list(root.iter())
    parent, element = chance.choice(elements), chance.choice(elements)
    children, attributes = list(parent), element.attrib
    match chance.randrange(7):
        case 0 if children:
            parent.remove(chance.choice(children))
        case 1 if children:
            parent.extend([chance.choice(children)] * chance.choice((1, 1, 2, 1000)))
        case 2:
            element.tag = chance.choice([*(each.tag for each in elements), *NAMES[:9]])
        case 3 if attributes:
            value = attributes.pop(chance.choice(sorted(attributes)))
            attributes[chance.choice(NAMES[:9])] = value
        case 4 if attributes:
            attributes[chance.choice(sorted(attributes))] = _PLACE
        case 5 if children:
            chance.choice(children).append(deepcopy(element))
        case _:
            element.text = _PLACE
    return ET.tostring(root, "unicode").replace(_PLACE, chance.choice(_XML))


_IN_FORM: dict[Form, Change] = {"json": _json, "toml": _toml, "xml": _xml}
