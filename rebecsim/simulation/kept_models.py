"""Keep models laid out for the native engine on disk between runs.

Reading, checking and laying out the model of a cell takes longer than a hundred of its runs on
compiled code. An entry is found by its content: the text of the model and the program that read
it, that is, its files and the versions of Python and NumPy. So neither an edited model nor an
edited rebecsim finds what is no longer true. What `rebecsim.kept_files` does not trust is made
again.
"""

from __future__ import annotations

import io
import marshal
import pickle
import sys
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np

from rebecsim.actors import Model
from rebecsim.cache_directory import KEPT_MODELS
from rebecsim.kept_files import kept_file, read_kept, write_kept
from rebecsim.lang import syntax, walk
from rebecsim.lang.checked import CheckedModel
from rebecsim.native.generated import load_step
from rebecsim.native.layout import NativeModel

_MARK = b"rebecsim model 1\n"
_PACKAGES = (
    *("rebecsim.actors", "rebecsim.generate", "rebecsim.native"),
    *("rebecsim.lang", "rebecsim.lang.reading", "rebecsim.lang.checking"),
)
_TEMPLATES = "rebecsim.templates"
_MADE_AGAIN = frozenset({"model", "checked", "step"})
_BY_NODE = (
    "types",
    "symbols",
    "constants",
    "choice_sites",
    "declared_types",
    "super_constructors",
)
"""What a checked model says of nodes of its tree, which it finds by their identity."""


def kept_model(source: str, file: str, lay_out: Callable[[], NativeModel]) -> NativeModel:
    """Give the model with this text from disk; `lay_out` makes it where it is not there.

    `file` is the name of the text, which its errors may show. What `lay_out` makes is kept; where
    the directory cannot be written, for this process only. Raises as `lay_out`.
    """
    path = kept_file(KEPT_MODELS, _program(), file, source)
    native = _read(path)
    if native is None:
        native = lay_out()
        if path is not None:
            _write(path, native, file)
    return native


@cache
def _program() -> str:
    """Hash everything beside its text that the layout of a model depends on."""
    digest = sha256(f"{sys.version} {np.__version__}".encode())
    patterns = dict.fromkeys(_PACKAGES, "*.[pl]*") | {_TEMPLATES: "*.j2"}
    for package, pattern in patterns.items():
        spec = find_spec(package)
        assert spec is not None
        for folder in spec.submodule_search_locations or ():
            for path in sorted(Path(folder).glob(pattern)):
                digest.update(f"{package} {path.name}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def _read(path: Path | None) -> NativeModel | None:
    payload = read_kept(path, _MARK)
    if payload is None:
        return None
    # Written by this program, to a directory of the user's own: see `kept_files`.
    tree, tables, code, laid_out = pickle.loads(zlib.decompress(payload))  # noqa: S301
    found: dict[str, Any] = {
        name: {id(node): value for node, value in pairs}
        for name, pairs in zip(_BY_NODE, tables, strict=True)
    }
    return NativeModel(
        model=_model_of(marshal.loads(code)),
        checked=CheckedModel(**tree, **found),
        step=load_step(laid_out["source"].text)["step"],
        **laid_out,
    )


def _write(path: Path, native: NativeModel, file: str) -> None:
    from rebecsim.generate import python_source

    checked = native.checked
    nodes = {id(node): node for node in walk(checked.tree)}
    tables = [
        [(nodes[node], value) for node, value in getattr(checked, name).items()]
        for name in _BY_NODE
    ]
    tree = {
        each.name: getattr(checked, each.name)
        for each in fields(checked)
        if each.name not in _BY_NODE
    }
    laid_out = {
        each.name: getattr(native, each.name)
        for each in fields(native)
        if each.name not in _MADE_AGAIN
    }
    code = marshal.dumps(compile(python_source(checked, file), f"<python of {file}>", "exec"))
    parts = io.BytesIO()
    with suppress(RecursionError):  # what is nested too deeply is laid out again next time
        _Pickler(parts).dump((tree, tables, code, laid_out))
        write_kept(path, _MARK, zlib.compress(parts.getvalue(), 1))


class _Pickler(pickle.Pickler):
    """Writes a syntax tree as calls of its classes: it is read twice as fast so."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, syntax.Span):
            return syntax.Span, tuple(getattr(value, each.name) for each in fields(value))
        if isinstance(value, syntax.Node):
            names = [each.name for each in fields(value) if each.name != "span"]
            return _node, (type(value), value.span, *(getattr(value, name) for name in names))
        return NotImplemented


def _node(kind: type[syntax.Node], span: syntax.Span, *parts: Any) -> syntax.Node:
    return kind(*parts, span=span)


def _model_of(code: CodeType) -> Model:
    namespace: dict[str, Any] = {"__name__": "rebecsim_generated"}
    exec(code, namespace)  # noqa: S102 - written from a checked tree
    model = namespace["model"]
    assert isinstance(model, Model)
    return model
