"""The models of a scenario as files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from rebecsim.clusters.dispatch.scenario import Scenario
from rebecsim.clusters.dispatch.study import STUDY
from rebecsim.errors import UserError
from rebecsim.files import write_atomically
from rebecsim.generate import python_source
from rebecsim.lang import check_source
from rebecsim.studies.plan import plan_study
from rebecsim.studies.study import PlannedCell

__all__ = ["ModelForm", "generate_models", "write_models"]

ModelForm = Literal["rebeca", "python"]


def generate_models(scenario: Scenario, form: ModelForm = "rebeca") -> dict[str, str]:
    """Generate every model of a scenario: file name -> text.

    `rebeca` is plain Timed Rebeca, `python` an importable module of Rebec classes.
    """
    cells = plan_study(STUDY, scenario).cells
    if form == "rebeca":
        return {f"{cell.name}.rebeca": cell.setup.source for cell in cells}
    return {f"{cell.name}.py": _python(cell) for cell in cells}


def _python(cell: PlannedCell) -> str:
    file = f"{cell.name}.rebeca"
    return python_source(check_source(cell.setup.source, file), file)


def write_models(models: Mapping[str, str], directory: Path, *, replace: bool = False) -> None:
    """Write models to a directory; a file that is there already must be the same.

    Raises UserError, before anything is written, when a file differs and `replace` is false, and
    OSError when the directory cannot be written.
    """
    if not replace:
        for name, text in models.items():
            path = directory / name
            if path.exists() and path.read_bytes() != text.encode():
                raise UserError(f"{path}: is there already and differs; --force replaces it")
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in models.items():
        write_atomically(directory / name, text.encode())
