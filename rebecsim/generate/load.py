"""Load a model from a file: Rebeca text, or a Python module of Rebec classes.

A Python module is executed: see `rebecsim.trust` for one that another file names.
"""

from __future__ import annotations

import importlib.util
import sys
from importlib.abc import ExecutionLoader
from pathlib import Path

from rebecsim.actors import Model
from rebecsim.errors import UserError
from rebecsim.generate.module import build_model
from rebecsim.lang import Dialect, check_file
from rebecsim.lang.checked import CheckedModel
from rebecsim.lang.reading.parser import read_source
from rebecsim.trust import is_program


class LoadError(UserError):
    """A file that holds no model; the text names it and says what is missing."""


def load_model(path: Path, dialect: Dialect = "timed") -> Model:
    """Load a model.

    A `.rebeca` file is parsed and checked; none of its text is executed. A `.py` file is a program
    of the user's own: it is imported, and its global `model` is the model. Raises RebecaError for
    errors in a `.rebeca` file, LoadError otherwise.
    """
    return load_checked(path, dialect)[0]


def load_checked(path: Path, dialect: Dialect = "timed") -> tuple[Model, CheckedModel | None]:
    """Load a model, and for a `.rebeca` file also what the checker knows about its names.

    Raises as `load_model` does.
    """
    if is_program(path):
        return _from_python(path), None
    if path.suffix != ".rebeca":
        raise LoadError(f"{path}: is not a model: the file name must end in .rebeca or .py")
    checked = check_file(path, dialect)
    return build_model(checked, path.name), checked


def _from_python(path: Path) -> Model:
    if not path.is_file():
        raise LoadError(f"{path}: there is no such file")
    return python_model(read_source(path), path)


class _Text(ExecutionLoader):
    """Loads a module from its text."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._text = text

    def get_filename(self, fullname: str) -> str:
        return str(self._path)

    def get_source(self, fullname: str) -> str:
        return self._text


def python_model(text: str, path: Path) -> Model:
    """Load the model of a module with this text, a program of the user's own, which is executed.

    `path` is where it comes from. Raises LoadError.
    """
    name = f"rebecsim_model_{path.stem}"
    spec = importlib.util.spec_from_loader(name, _Text(path, text), origin=str(path))
    assert spec is not None
    assert spec.loader is not None
    spec.has_location = True
    module = importlib.util.module_from_spec(spec)
    writes_bytecode = sys.dont_write_bytecode
    sys.dont_write_bytecode = True  # reading a model leaves nothing beside it
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # whatever the user's program raises
        raise LoadError(f"{path}: {type(error).__name__}: {error}") from error
    finally:
        sys.dont_write_bytecode = writes_bytecode
    model = getattr(module, "model", None)
    if not isinstance(model, Model):
        raise LoadError(f"{path}: has no global `model` of type rebecsim.actors.Model")
    return model
