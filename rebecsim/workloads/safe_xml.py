"""Read XML configuration files: elements with their lines, without entities.

XIncludes are refused, and so are entities other than those of XML itself. So everything that is
read is in the file itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

from rebecsim.errors import UserError
from rebecsim.limits import NESTING, XML, read_file

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
