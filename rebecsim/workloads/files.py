"""Read workload files, plain or compressed, in bounded pieces, and write them whole.

JSON values may follow each other without commas, as in YARN traces.

Read XML configuration files: elements with their lines, without entities.

XIncludes are refused, and so are entities other than those of XML itself. So everything that is
read is in the file itself.
"""

from __future__ import annotations

import codecs
import gzip
import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, Protocol
from xml.parsers import expat

from rebecsim import files
from rebecsim.errors import UserError
from rebecsim.files import FILE, LOG, NESTING, XML, Limit, read_file, require_small_json
from rebecsim.wording import first_repeated


class WorkloadError(UserError):
    """A workload that cannot be read, made or changed as asked. The text names file and line."""

    @classmethod
    def at(cls, path: Path, line: int, problem: str) -> WorkloadError:
        """Make the error for a line of a file, counted from 1."""
        return cls(f"{path}:{line}: {problem}")


LARGEST = 2**53
"""Whole numbers are exact up to here in floating point, and so in JSON."""

LONGEST_LINE = 1 << 16
"""Bytes that a line of a log may have. A line of SWF has some hundred."""

_BLOCK = 1 << 20
_GZIP = b"\x1f\x8b"


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class _Writable(Protocol):
    def write(self, data: bytes, /) -> int: ...


def whole_lines(path: Path, longest: int = LONGEST_LINE) -> Iterator[tuple[int, bytes]]:
    """Read a file, gzip or plain, in pieces of whole lines, each with the number of its first.

    Pieces are about a megabyte, whatever the file is like. Which of the two it is, is seen from
    its first bytes; a byte order mark is left out. Raises WorkloadError for a line that is longer
    than `longest` and for compressed data that are damaged or cut off; LimitError for more than a
    log may have, unpacked; OSError when the file cannot be read.
    """
    line, rest, mark = 1, b"", codecs.BOM_UTF8
    with _opened(path, LOG) as file:
        while piece := _piece(path, line, file).removeprefix(mark):
            mark = b""
            whole, newline, rest = (rest + piece).rpartition(b"\n")
            if newline:
                _require_short_lines(path, line, whole, longest)
                yield line, whole
                line += whole.count(b"\n") + 1
            _require_short_lines(path, line, rest, longest)
    if rest:
        yield line, rest


def text_lines(path: Path, longest: int = LONGEST_LINE) -> Iterator[tuple[int, str]]:
    """Read the lines of a file that are not blank, each with its number; else as `whole_lines`."""
    for first, piece in whole_lines(path, longest):
        for number, line in enumerate(piece.decode("utf-8", "replace").split("\n"), start=first):
            if line.strip():
                yield number, line


def whole_text(path: Path) -> bytes:
    """Read a file, gzip or plain, at once.

    Raises WorkloadError for compressed data that are damaged or cut off; LimitError for more than a
    file may have, unpacked; OSError when the file cannot be read.
    """
    pieces: list[bytes] = []
    line = 1
    with _opened(path, FILE) as file:
        while piece := _piece(path, line, file):
            pieces.append(piece)
            line += piece.count(b"\n")
    return b"".join(pieces)


@contextmanager
def replacing(path: Path) -> Iterator[_Writable]:
    """Open a file to be written, with gzip if it is named `.gz`; it is there once all is written.

    The same content gives the same bytes. Raises OSError when the directory cannot be written;
    a file that was there before is then unchanged.
    """
    with files.replacing(path) as raw:
        if path.suffix == ".gz":
            # No name and no time within: the same content, the same bytes.
            with gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0) as packed:
                yield packed
        else:
            yield raw


def first_bytes(path: Path) -> bytes:
    """Return the first piece of a file, unpacked; the whole file if it is small.

    Raises WorkloadError for a damaged file, OSError for one that cannot be read.
    """
    with _opened(path, LOG) as file:
        return _piece(path, 1, file).removeprefix(codecs.BOM_UTF8)


SLS = (".json", ".json.gz")
SWIM = (".tsv", ".tsv.gz")
"""How the names of traces end: of the Scheduler Load Simulator, and of SWIM."""


def holds_containers(path: Path) -> bool:
    """Whether a file is a trace of container jobs, by its name or its first character.

    Raises WorkloadError and OSError for a file that cannot be read.
    """
    if path.name.endswith(SLS + SWIM):
        return True
    if not path.is_file():  # a pipe can be read only once
        return False
    return first_bytes(path).lstrip().startswith(b"{")


class _Bounded:
    """A file, unpacked, that is read up to a limit."""

    def __init__(self, path: Path, file: _Readable, limit: Limit) -> None:
        self._path, self._file, self._limit = path, file, limit
        self._left = limit.most

    def read(self, size: int, /) -> bytes:
        data = self._file.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise self._limit.exceeded(self._path, f"unpacks to more than {self._limit.most:,}")
        return data


@contextmanager
def _opened(path: Path, limit: Limit) -> Iterator[_Readable]:
    with path.open("rb") as raw:
        compressed = raw.read(len(_GZIP)) == _GZIP
        raw.seek(0)
        if compressed:
            with gzip.GzipFile(fileobj=raw, mode="rb") as unpacked:
                yield _Bounded(path, unpacked, limit)
        else:
            limit.require(path.stat().st_size, path)
            yield _Bounded(path, raw, limit)


def _piece(path: Path, line: int, file: _Readable) -> bytes:
    """Read the next bytes, those of about a line; nothing at the end."""
    try:
        return file.read(_BLOCK)
    except EOFError:
        raise WorkloadError.at(
            path, line, "the compressed data are cut off about here; fetch the file again"
        ) from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise WorkloadError.at(
            path, line, f"the compressed data are damaged about here ({error})"
        ) from None


def _require_short_lines(path: Path, first: int, text: bytes, longest: int) -> None:
    """Raise WorkloadError, with its number, if a line is too long to be one of a log."""
    if len(text) <= longest:
        return
    for number, each in enumerate(text.split(b"\n"), start=first):
        if len(each) > longest:
            raise WorkloadError.at(
                path, number, f"a line of more than {longest:,} bytes; this is not a workload log"
            )


_BLANK = re.compile(r"[ \t\r\n]*")
_SINGLE_OR_BARE = re.compile(
    r"""
    "(?:[^"\\]|\\.)*+"             # is as it should be
    | '((?:[^'\\]|\\.)*+)'
    | ["'].*+                      # does not end
    | (?<![\w.])([A-Za-z_][\w.]*+)(?=\s*+:)
    """,
    re.VERBOSE | re.DOTALL,
)
"""Never goes back over what it has matched: the time is linear."""


def json_objects(path: Path) -> Sequence[tuple[int, dict[str, Any]]]:
    """Read the objects of a file, one behind the other or in one array, each with its line.

    The file is plain or gzip. Texts in single quotes and keys in none are read as if they stood in
    double ones, as DSS reads them.

    Raises WorkloadError, with file and line, for text that is not JSON or ends in the middle,
    for a value that is not an object, a key that an object has twice, and a file without an object.
    Raises LimitError for too large a file, too many values or brackets too deep; OSError when the
    file cannot be read.
    """
    text = _text(path)
    try:
        return _objects(path, text)
    except WorkloadError:
        quoted = _SINGLE_OR_BARE.sub(_in_double_quotes, text)
        if quoted == text:
            raise
        with suppress(WorkloadError):
            return _objects(path, quoted)
        raise


def first_json_object(path: Path) -> dict[str, Any]:
    """Read the first object of a file as above, and nothing behind it; `{}`: there is none."""
    with suppress(WorkloadError):
        for _, value in _Values(path, _text(path)):
            return value if isinstance(value, dict) else {}
    return {}


def _objects(path: Path, text: str) -> list[tuple[int, dict[str, Any]]]:
    found = []
    for line, value in _Values(path, text):
        if not isinstance(value, dict):
            shown = json.dumps(value)[:40]
            raise WorkloadError.at(path, line, f"should be an object in braces, not {shown}")
        found.append((line, value))
    if not found:
        raise WorkloadError(f"{path}: the file is empty")
    return found


def _in_double_quotes(found: re.Match[str]) -> str:
    single, bare = found.groups()
    if single is not None:
        return '"' + single.replace("\\'", "'").replace('"', '\\"') + '"'
    return found[0] if bare is None else f'"{bare}"'


def _text(path: Path) -> str:
    content = whole_text(path)
    require_small_json(content, path)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise WorkloadError.at(path, line, f"not UTF-8 text, at byte {error.start}") from None


class _Values:
    """The values of a text, those of arrays one by one, each with its line."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._text = text
        self._decoder = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_no_number)
        self._position = self._counted = 0
        self._line = 1

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        while self._next():
            if self._text[self._position] == "[":
                yield from self._array()
            else:
                yield self._here(), self._value()

    def _array(self) -> Iterator[tuple[int, Any]]:
        begun = self._here()
        self._position += 1
        first = True
        while (character := self._next()) != "]":
            if not first:
                if character != ",":
                    raise self._wrong(begun, "a comma or the end of the array")
                self._position += 1
                character = self._next()
            if not character or character == "]":
                raise self._wrong(begun, "another value of the array")
            yield self._here(), self._value()
            first = False
        self._position += 1

    def _wrong(self, begun: int, expected: str) -> WorkloadError:
        if not self._next():
            return self._at(
                self._here(),
                f"the file ends in the middle of the array that begins in line {begun}",
            )
        shown = self._text[self._position]
        return self._at(self._here(), f"not JSON: expected {expected}, found {shown!r}")

    def _at(self, line: int, problem: str) -> WorkloadError:
        return WorkloadError.at(self._path, line, problem)

    def _next(self) -> str:
        """Go to the next character that is not blank, and give it; nothing at the end."""
        found = _BLANK.match(self._text, self._position)
        self._position = found.end() if found else self._position
        return self._text[self._position : self._position + 1]

    def _here(self) -> int:
        self._line += self._text.count("\n", self._counted, self._position)
        self._counted = self._position
        return self._line

    def _value(self) -> Any:
        line = self._here()
        try:
            value, self._position = self._decoder.raw_decode(self._text, self._position)
        except json.JSONDecodeError as error:
            raise self._at(error.lineno, _problem(self._text, error, line)) from None
        except (_TwiceError, _NoNumberError) as error:
            raise self._at(line, f"in the object from here, {error}") from None
        except ValueError:
            raise self._at(line, "in the object from here, a number of too many digits") from None
        except RecursionError:
            raise self._at(line, "brackets within brackets, too deep") from None
        return value


def _problem(text: str, error: json.JSONDecodeError, begun: int) -> str:
    rest = text[error.pos :].strip()
    if not rest or (error.msg.startswith("Unterminated string") and '"' not in rest[1:]):
        return f"the file ends in the middle of the object that begins in line {begun}"
    return f"not JSON: {error.msg[0].lower()}{error.msg[1:]}, column {error.colno}"


class _TwiceError(ValueError):
    """A key stands twice in an object."""


class _NoNumberError(ValueError):
    """A constant that Python would read as a number, as NaN."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _TwiceError(f"{first_repeated(key for key, _ in pairs)!r} is given twice")
    return found


def _no_number(text: str) -> None:
    raise _NoNumberError(f"{text} is not a JSON number")


_XINCLUDE = "http://www.w3.org/2001/XInclude"


class XmlError(UserError):
    """An XML file that cannot be used. The text names file and line."""

    @classmethod
    def at(cls, file: str, line: int, problem: str) -> XmlError:
        """Make the error for a line of a file, counted from 1."""
        return cls(f"{file}:{line}: {problem}")


@dataclass(slots=True)
class Element:
    """An element, with the text that stands directly in it, its white space cut.

    Attributes:
        line: where it begins, counted from 1.
        file: the name of the file, for errors.
    """

    tag: str
    line: int
    file: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    text: str = ""
    children: list[Element] = field(default_factory=list)

    def of(self, *tags: str) -> Iterator[Element]:
        """Give the children of some tags, in their order."""
        return (each for each in self.children if each.tag in tags)

    def text_of(self, tag: str) -> str | None:
        """Give the text of the last child of a tag; None: there is none."""
        found = None
        for each in self.of(tag):
            found = each.text
        return found

    def wrong(self, problem: str) -> XmlError:
        """Make the error that says what is wrong with this element."""
        return XmlError.at(self.file, self.line, problem)


_JUNK, _END = (
    expat.errors.codes[each]
    for each in (expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT, expat.errors.XML_ERROR_NO_ELEMENTS)
)


def read_xml(path: Path, name: str = "") -> Element:
    """Read a file and give its outermost element; errors call the file by `name`.

    Raises XmlError, with file and line, for text that is not XML and for entities; LimitError for
    too large a file and elements nested too deep. Raises OSError when the file cannot be read.
    """
    file = name or str(path)
    return _Reader(file).read(read_file(path, XML, file))


class _Reader:
    def __init__(self, file: str) -> None:
        self._file = file
        self._parser = parser = expat.ParserCreate(namespace_separator=" ")
        self._open: list[Element] = []
        self._texts: list[list[str]] = []
        self._root: Element | None = None
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.EntityDeclHandler = self._entity
        parser.ExternalEntityRefHandler = self._external
        parser.SkippedEntityHandler = self._skipped

    def read(self, content: bytes) -> Element:
        try:
            self._parser.Parse(content, True)
        except expat.ExpatError as error:
            problem = f"this is not XML: {expat.ErrorString(error.code)}, column {error.offset + 1}"
            raise XmlError.at(self._file, error.lineno, problem + self._advice(error)) from error
        except (LookupError, ValueError) as error:  # an encoding that is unknown
            raise XmlError.at(self._file, 1, f"this is not XML: {error}") from error
        assert self._root is not None
        return self._root

    def _advice(self, error: expat.ExpatError) -> str:
        if error.code == _JUNK:
            return "; put everything into one element, as in <configuration>...</configuration>"
        if error.code == _END and self._root is not None:
            return f"; is </{self._root.tag}> missing at the end?"
        return ""

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        space, _, name = tag.rpartition(" ")
        if space == _XINCLUDE:
            self._refuse("other files are not included; copy the content here")
        if len(self._open) >= NESTING.default:
            NESTING.require(len(self._open) + 1, f"{self._file}:{self._parser.CurrentLineNumber}")
        element = Element(name, self._parser.CurrentLineNumber, self._file, attributes)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self._root = element
        self._open.append(element)
        self._texts.append([])

    def _end(self, _tag: str) -> None:
        self._open.pop().text = "".join(self._texts.pop()).strip()

    def _characters(self, text: str) -> None:
        self._texts[-1].append(text)

    def _entity(self, name: str, *_: object) -> NoReturn:
        self._refuse(
            f"the entity {name} is declared; entities are refused, so write its text instead"
        )

    def _external(self, *_: object) -> NoReturn:
        self._refuse("an entity of another file is used; entities are refused")

    def _skipped(self, name: str, *_: object) -> NoReturn:
        self._refuse(f"the entity {name} is not known")

    def _refuse(self, problem: str) -> NoReturn:
        raise XmlError.at(self._file, self._parser.CurrentLineNumber, problem)
