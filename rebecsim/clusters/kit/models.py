"""The models of a scenario as files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from rebecsim.errors import UserError
from rebecsim.files import write_atomically
from rebecsim.generate import python_source
from rebecsim.lang import check_source
from rebecsim.studies.plan import Plan

ModelForm = Literal["rebeca", "python"]


def generate_models(plan: Plan, form: ModelForm = "rebeca") -> dict[str, str]:
    """Generate every model of a plan: file name -> text.

    `rebeca` is plain Timed Rebeca, `python` an importable module of Rebec classes. Raises UserError
    for a kind whose cells have no models.
    """
    texts: dict[str, str] = {}
    for cell in plan.cells:
        text = getattr(cell.setup, "model_text", None)
        if text is None:
            raise UserError(
                f"scenario {plan.scenario.name}: scenarios of the kind {plan.study.kind} have no "
                "models in Rebeca"
            )
        texts[cell.name] = text
    if form == "rebeca":
        return {f"{name}.rebeca": text for name, text in texts.items()}
    return {f"{name}.py": _python(name, text) for name, text in texts.items()}


def _python(name: str, text: str) -> str:
    file = f"{name}.rebeca"
    return python_source(check_source(text, file), file)


def write_models(models: Mapping[str, str], directory: Path, *, replace: bool = False) -> None:
    """Write models to a directory; a file that is there already must be the same.

    Raises UserError, before anything is written, when a file differs and `replace` is false, and
    OSError when the directory cannot be written.
    """
    if not replace:
        for name, text in models.items():
            path = directory / name
            if path.exists() and path.read_bytes() != text.encode():
                raise UserError(f"{path}: already exists and differs; replace it with --force")
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in models.items():
        write_atomically(directory / name, text.encode())
