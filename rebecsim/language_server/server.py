"""The Language Server Protocol: diagnostics, hover, definitions, outline and layout.

A text is parsed and checked; nothing in it is ever executed.
"""

from __future__ import annotations

from urllib.parse import unquote, urlparse

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.workspace import ServerTextPosition, ServerTextRange, TextDocument

from rebecsim import __version__
from rebecsim.errors import UserError
from rebecsim.lang import (
    CheckedModel,
    Diagnostic,
    RebecaError,
    check_source,
    problems_of,
)
from rebecsim.lang.formatting import format_source
from rebecsim.lang.reading.imports import bundled, stored_file
from rebecsim.lang.reading.parser import parse_any
from rebecsim.lang.syntax import Span
from rebecsim.language_server.answers import (
    Entry,
    declaration,
    hover,
    nodes_at,
    outline,
)

_KINDS = {
    "class": lsp.SymbolKind.Class,
    "interface": lsp.SymbolKind.Interface,
    "constructor": lsp.SymbolKind.Constructor,
    "server": lsp.SymbolKind.Event,
    "method": lsp.SymbolKind.Method,
    "variable": lsp.SymbolKind.Variable,
    "constant": lsp.SymbolKind.Constant,
}
_BEGIN = lsp.Range(lsp.Position(0, 0), lsp.Position(0, 1))
_SEVERITIES = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
}


def server() -> LanguageServer:
    """Make a server; `start_io` lets it speak with an editor."""
    made = LanguageServer("rebecsim", __version__)

    @made.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(ls: LanguageServer, given: lsp.DidOpenTextDocumentParams) -> None:
        _publish(ls, given.text_document.uri)

    @made.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(ls: LanguageServer, given: lsp.DidChangeTextDocumentParams) -> None:
        _publish(ls, given.text_document.uri)

    @made.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(ls: LanguageServer, given: lsp.DidCloseTextDocumentParams) -> None:
        nothing = lsp.PublishDiagnosticsParams(given.text_document.uri, [])
        ls.text_document_publish_diagnostics(nothing)

    @made.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hovered(ls: LanguageServer, given: lsp.HoverParams) -> lsp.Hover | None:
        document = ls.workspace.get_text_document(given.text_document.uri)
        checked = _checked(document)
        found = None if checked is None else hover(checked, *_place(document, given.position))
        if found is None:
            return None
        text, span = found
        shown = lsp.MarkupContent(lsp.MarkupKind.Markdown, f"```rebeca\n{text}\n```")
        return lsp.Hover(shown, _range(document, span))

    @made.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def defined(ls: LanguageServer, given: lsp.DefinitionParams) -> lsp.Location | None:
        document = ls.workspace.get_text_document(given.text_document.uri)
        checked = _checked(document)
        if checked is None:
            return None
        around = nodes_at(checked.tree, *_place(document, given.position))
        found = declaration(checked, around) if around else None
        if found is None:
            return None
        if found.span.file != document.path:
            document = ls.workspace.get_text_document(stored_file(found.span.file).as_uri())
        return lsp.Location(document.uri, _range(document, found.span))

    @made.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def outlined(
        ls: LanguageServer, given: lsp.DocumentSymbolParams
    ) -> list[lsp.DocumentSymbol] | None:
        document = ls.workspace.get_text_document(given.text_document.uri)
        try:
            tree = parse_any(document.source)
        except RebecaError:
            return None  # what was shown before stays
        return [_symbol(document, each) for each in outline(tree)]

    @made.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    def formatted(
        ls: LanguageServer, given: lsp.DocumentFormattingParams
    ) -> list[lsp.TextEdit] | None:
        document = ls.workspace.get_text_document(given.text_document.uri)
        return _laid_out(document)

    return made


def _laid_out(document: TextDocument) -> list[lsp.TextEdit] | None:
    """Give what the layout of the printer changes; None where a text cannot be laid out."""
    text = document.source.replace("\r\n", "\n")
    try:
        found = format_source(text) if _is_model(document) else text
    except UserError:
        return None
    if found == text:
        return []
    whole = lsp.Range(lsp.Position(0, 0), lsp.Position(len(document.lines), 0))
    return [lsp.TextEdit(whole, found)]


def _publish(ls: LanguageServer, uri: str) -> None:
    document = ls.workspace.get_text_document(uri)
    if not _is_model(document):
        return
    try:
        text = bundled(document.source, document.path)
        found = problems_of(text, document.path, parts=True)
        shown = [_diagnostic(document, each) for each in found]
    except (OSError, UserError) as error:  # a file that it imports cannot be read
        severity = lsp.DiagnosticSeverity.Error
        shown = [lsp.Diagnostic(_BEGIN, str(error), severity, source="rebecsim")]
    ls.text_document_publish_diagnostics(
        lsp.PublishDiagnosticsParams(uri, shown, version=document.version)
    )


def _is_model(document: TextDocument) -> bool:
    return unquote(urlparse(document.uri).path).endswith(".rebeca")


def _checked(document: TextDocument) -> CheckedModel | None:
    try:
        if _is_model(document):
            text = bundled(document.source, document.path)
            return check_source(text, document.path, parts=True)
    except (OSError, UserError):
        pass  # the diagnostics say what is wrong
    return None


# --- places --------------------------------------------------------------------------------------
# Here they are lines and characters from 1; an editor counts from 0, in the units it has asked for.


def _place(document: TextDocument, position: lsp.Position) -> tuple[int, int]:
    found = document.position_from_client_units(position)
    return found.line + 1, found.character + 1


def _range(document: TextDocument, span: Span) -> lsp.Range:
    start = ServerTextPosition(max(span.line - 1, 0), max(span.column - 1, 0))
    end = ServerTextPosition(max(span.end_line - 1, 0), max(span.end_column - 1, 0))
    return document.range_to_client_units(ServerTextRange(start, end))


def _diagnostic(document: TextDocument, found: Diagnostic) -> lsp.Diagnostic:
    hint = "" if found.hint is None else f"\nhint: {found.hint}"
    message, place = found.message + hint, _range(document, found.span)
    if found.span.file != document.path:  # in a file that it imports
        message = f"{found.span.file}:{found.span.line}:{found.span.column}: {message}"
        place = _BEGIN
    return lsp.Diagnostic(
        place,
        message,
        _SEVERITIES[found.severity],
        found.code or None,
        source="rebecsim",
    )


def _symbol(document: TextDocument, entry: Entry) -> lsp.DocumentSymbol:
    place = _range(document, entry.span)
    inside = [_symbol(document, each) for each in entry.entries]
    return lsp.DocumentSymbol(
        entry.name, _KINDS[entry.kind], place, place, entry.detail, children=inside
    )
