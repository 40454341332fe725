"""Checking models: what is wrong or suspicious in their text, and whether they can be run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rebecsim.errors import UserError
from rebecsim.interface.shown import Shown
from rebecsim.lang import Diagnostic, RebecaError, check_file
from rebecsim.lang.errors import MOST_SHOWN
from rebecsim.lang.syntax import Span
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
