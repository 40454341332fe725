"""Choose the dialect of a model: from its first comments, or from its use of time."""

from __future__ import annotations

import re

from rebecsim.lang import syntax
from rebecsim.lang.checked import CheckedModel, Dialect
from rebecsim.lang.traversal import walk
from rebecsim.lang.types import TIMER

_COMMENTS = re.compile(r"(\s|//[^\n]*|/\*.*?\*/)*", re.S)
_MARK = re.compile(r"^[\s/*]*rebeca:[ \t]*core\b[\s.*/]*$", re.M | re.I)


def declared_dialect(text: str) -> Dialect | None:
    """Give the dialect that the comments before the first declaration name, by `// rebeca: core`.

    None if they say nothing: the model is in the dialect that it is read as.
    """
    found = _COMMENTS.match(text)
    return "core" if found is not None and _MARK.search(found.group()) else None


def needs_time(model: CheckedModel) -> bool:
    """Whether anything in a model has a meaning in time only."""
    return any(_is_timed(model, node) for node in walk(model.tree))


def _is_timed(model: CheckedModel, node: syntax.Node) -> bool:
    match node:
        case syntax.Delay():
            return True
        case syntax.Annotation(name=name):
            return name in ("priority", "globalPriority")
        case syntax.Send(after=after, deadline=deadline):
            return after is not None or deadline is not None
        case syntax.Name():
            symbol = model.symbols.get(id(node))
            builtin = symbol is not None and symbol.kind == "builtin"
            return builtin and node.identifier not in ("self", "sender")
        case syntax.TypeName(name=name):
            return name == TIMER.name and model.declared_types.get(id(node)) == TIMER
    return False
