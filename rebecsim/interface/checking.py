"""Checking models, whether they can be run, and writing them: generated, begun, laid out anew."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from rebecsim.errors import UserError
from rebecsim.files import write_atomically
from rebecsim.interface.shown import Shown
from rebecsim.lang import Diagnostic, RebecaError, check_file
from rebecsim.lang.errors import MOST_SHOWN
from rebecsim.lang.syntax import Span
from rebecsim.trust import is_program
from rebecsim.wording import counted

if TYPE_CHECKING:
    from rebecsim.actors import Model

CHECKED_RUNS, CHECKED_MESSAGES = 10, 1_000
"""Runs of a strict check, and the most messages of each."""

_PATIENCE = 10
"""Seconds that a message server may take in them."""


@dataclass(frozen=True)
class CheckedFile(Shown):
    """What there is to say of the text of a model.

    Attributes:
        file: its path.
        problems: errors and warnings, each with its place.
        texts: the same for people to read, the first ones if there are many.
        classes: how many classes of rebecs it has; 0 if it is wrong.
        rebecs: how many rebecs.
        is_fine: whether there is no error; there may be warnings.

    >>> rs.check("ticket_service.rebeca").is_fine
    True
    """

    file: Path
    problems: tuple[Diagnostic, ...] = ()
    texts: tuple[str, ...] = ()
    classes: int = 0
    rebecs: int = 0
    is_fine: bool = True

    @property
    def summary(self) -> str:
        """The answer in a line."""
        if not self.is_fine:
            return f"{self.file}: {counted(len(self.problems), 'problem')}"
        classes = counted(self.classes, "class", "classes")
        return f"{self.file}: ok, {classes}, {counted(self.rebecs, 'rebec')}"

    def __rich__(self) -> str:
        """Give the problems, and the answer in a line."""
        return "\n".join([*self.texts, self.summary])

    def __repr__(self) -> str:
        return f"<CheckedFile {self.summary}>"


def check(file: str | Path, *, core: bool = False, strict: bool = False) -> CheckedFile:
    """Check a model: syntax, names and types, or a model in Python for what cannot be repeated.

    With `core`, Rebeca text is Core Rebeca, which has no time. With `strict`, the model is also run
    ten times, to look for assertions that fail. What is wrong is in the answer and is not raised.

    >>> rs.check("ticket_service.rebeca")
    <CheckedFile ticket_service.rebeca: ok, 2 classes, 3 rebecs>
    """
    path = Path(file)
    model: Model | None
    try:
        if path.suffix == ".py":
            found, model = _checked_python(path)
        else:
            found, model = _checked_text(path, core, strict)
    except RebecaError as error:
        return CheckedFile(path, error.diagnostics, (str(error),), is_fine=False)
    except UserError as error:
        return _wrong(path, str(error).removeprefix(f"{path}: "), str(error))
    except OSError as error:
        return _wrong(path, str(error.strerror), f"{path}: {error.strerror}")
    return _tried(found, model) if strict and model is not None else found


def _checked_text(file: Path, core: bool, strict: bool) -> tuple[CheckedFile, Model | None]:
    """Check a model in Rebeca; only for a strict check, it is built."""
    checked = check_file(file, "core" if core else "timed")
    sizes = len(checked.classes), len(checked.instances)
    found = CheckedFile(file, checked.warnings, _first(checked.warnings), *sizes)
    if not strict:
        return found, None
    from rebecsim.generate import build_model

    return found, build_model(checked, file.name)


def _checked_python(file: Path) -> tuple[CheckedFile, Model]:
    """Check a model in Python, which is a program of the user's and is run."""
    from rebecsim.generate.module import load_model
    from rebecsim.steps import understood
    from rebecsim.steps.repeatable import impurities

    model = load_model(file)
    classes = dict.fromkeys(instance.reactive_class for instance in model.instances)
    found = [
        _problem(Path(each.file), f"`{each.method}` of {each.owner} {each.what}", each.line)
        for reactive_class in classes
        for each in impurities(reactive_class)
    ]
    warnings = tuple(replace(each, severity="warning") for each in found)
    texts = [f"{each.span.file}:{each.span.line}: warning: {each.message}" for each in found]
    reason = understood(model)[1]
    if reason:
        texts.append(f"{reason}; so it runs in Python, without compiled code and reductions")
    sizes = len(classes), len(model.instances)
    return CheckedFile(file, warnings, _first(texts), *sizes), model


def _tried(found: CheckedFile, model: Model) -> CheckedFile:
    """Run a model some times, and add the first assertion that fails to what there is to say."""
    from rebecsim.actors.watchdog import Watchdog
    from rebecsim.simulation import simulate
    from rebecsim.simulation.simulator import make_scheduler

    for seed in range(CHECKED_RUNS):
        with Watchdog(patience=_PATIENCE) as watchdog:
            scheduler = make_scheduler("random", seed, "fair")
            run = simulate(model, scheduler, max_steps=CHECKED_MESSAGES, watchdog=watchdog)
        if run.outcome == "assertion failed":
            show = f"`rebecsim simulate {found.file} --seed {seed} --steps {run.steps}` shows it"
            what = f"{run.outcome}: {run.detail}" if run.detail else run.outcome
            text = f"{what}, at time {run.time} of a run; {show}"
            more = _wrong(found.file, text, f"{found.file}: error: {text}")
            return replace(
                more, problems=found.problems + more.problems, texts=found.texts + more.texts
            )
    return found


def _wrong(file: Path, message: str, text: str) -> CheckedFile:
    return CheckedFile(file, (_problem(file, message),), (text,), is_fine=False)


def _problem(file: Path, message: str, line: int = 1) -> Diagnostic:
    """Give a problem of a whole line, or of a file."""
    return Diagnostic(message, Span(str(file), line, 1, line, 1))


def _first(warnings: Sequence[object]) -> tuple[str, ...]:
    """Give the warnings that are shown: the first ones if there are many, and how many more."""
    more = len(warnings) - MOST_SHOWN
    rest = [f"and {counted(more, 'more warning')}"] if more > 0 else []
    return (*map(str, warnings[:MOST_SHOWN]), *rest)


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
    from rebecsim.generate.templates import write_starter

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
    from rebecsim.lang.errors import read_source
    from rebecsim.lang.formatting import format_source

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
