"""Writing models: those of a scenario, one to start from, and texts laid out anew."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import Literal, NamedTuple

from rebecsim.errors import UserError
from rebecsim.files import write_atomically
from rebecsim.generate.templates import write_starter
from rebecsim.trust import is_program


class Generated(NamedTuple):
    """The files of generated models, and what a user should know of them, if anything."""

    files: tuple[Path, ...]
    note: str = ""


def generate(
    scenario: str | Path,
    out: str | Path,
    *,
    form: Literal["rebeca", "python"] = "rebeca",
    force: bool = False,
) -> Generated:
    """Write the model of each cell of a scenario to a directory.

    `form` is plain Timed Rebeca, or modules of Rebec classes; `force` replaces files that differ.
    Raises UserError, before anything is written, for a kind whose cells have no models, a model in
    Python, and a file that differs; OSError.

    >>> len(rs.generate("for_edf", "generated").files)
    96
    """
    from rebecsim.clusters.scenarios import load
    from rebecsim.generate import python_source
    from rebecsim.lang import check_source

    plan = load(scenario, _refuse_programs).plan()
    models: dict[Path, str] = {}
    for cell in plan.cells:
        text = getattr(cell.setup, "model_text", None)
        if text is None:
            raise UserError(
                f"scenario {plan.scenario.name}: scenarios of the kind {plan.study.kind} have no "
                "models in Rebeca"
            )
        rebeca = f"{cell.name}.rebeca"
        if form == "rebeca":
            models[Path(out, rebeca)] = text
        else:
            models[Path(out, f"{cell.name}.py")] = python_source(check_source(text, rebeca), rebeca)
    for path, text in models.items():
        if not force and path.exists() and path.read_bytes() != text.encode():
            raise UserError(f"{path}: already exists and differs; replace it with --force")
    Path(out).mkdir(parents=True, exist_ok=True)
    for path, text in models.items():
        write_atomically(path, text.encode())
    order = getattr(plan.scenario, "order", "random")
    left_out = (
        f"the models leave out order {order!r}: `rebecsim compare` uses it for messages of one "
        "time unit, and a model allows every order of them"
    )
    return Generated(tuple(models), "" if order == "random" else left_out)


def _refuse_programs(origin: str, programs: tuple[Path, ...]) -> None:
    """Refuse a scenario about a model in Python before the model is run."""
    raise UserError(f"{origin}: runs {programs[0]}, which is not a model in Rebeca")


def new(name: str | Path) -> tuple[Path, Path, Path]:
    """Write a small model to start from, its properties and a test, and give their paths.

    `name` is that of the model, perhaps in a directory. Raises UserError for one that is no name,
    and if any of the files is there; nothing is written then.

    >>> [file.name for file in rs.new("kiosk")]
    ['kiosk.rebeca', 'kiosk.property', 'test_kiosk.py']
    """
    return write_starter(Path(name))


def format(file: str | Path, *, check: bool = False) -> bool:
    """Lay out a model in Rebeca as editors do; with `check`, write nothing.

    Gives whether the file was changed, or would be. Raises UserError where it cannot be read, is no
    model in Rebeca, or a comment would lose its place.

    >>> rs.format("ticket_service.rebeca")
    True
    """
    path = Path(file)
    after = _laid_out(path)
    if after is not None and not check:
        write_atomically(path, after)
    return after is not None


def _laid_out(file: Path) -> bytes | None:
    """Give what a file is to hold, with its line ends and byte order mark; None if it does."""
    from rebecsim.lang.formatting import format_source
    from rebecsim.lang.reading.parser import read_source

    if is_program(file):
        raise UserError(f"{file}: is Python; only models in Rebeca can be formatted")
    try:
        before, text = file.read_bytes(), read_source(file)
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}") from error
    found = format_source(text.replace("\r\n", "\n"), str(file))
    after = (found.replace("\n", "\r\n") if "\r\n" in text else found).encode()
    if before.startswith(codecs.BOM_UTF8):
        after = codecs.BOM_UTF8 + after
    return None if after == before else after
