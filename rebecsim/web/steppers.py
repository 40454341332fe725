"""Steppers of open models, moved to the state that a request asks for."""

from __future__ import annotations

import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

from rebecsim.actors import Model
from rebecsim.errors import UserError
from rebecsim.generate.cells import flat_length
from rebecsim.generate.module import build_model, python_model
from rebecsim.lang import CheckedModel, check_source
from rebecsim.live import Breakpoint, Stepper, Stop
from rebecsim.web.addresses import LONGEST_RUN
from rebecsim.web.library import ListedModel
from rebecsim.web.limits import MOST_VALUES, PATIENCE, BusyError
from rebecsim.web.rendering import UnknownPlaceError

_MOST_STEPPERS = 8  # of one model: people who are in different places
_MOST_MODELS = 64
_PATIENCE = 2.0
"""Seconds that a run may go on by itself for one click."""


class ModelSteppers:
    """The steppers of one model. Raises as loading does.

    One request at a time uses them. Requests that take long have others, so steps need not wait.
    """

    def __init__(self, listed: ListedModel) -> None:
        self._listed = listed
        self._steps = _SharedSteppers(listed)
        self._lock = threading.Lock()
        self._searches: _SharedSteppers | None = None

    @property
    def model(self) -> Model:
        """The model."""
        return self._steps.model

    @property
    def about(self) -> str:
        """What a cluster was cut to, and what it promises; empty for a model."""
        return self._steps.about

    def at(self, ordinals: Sequence[int]) -> AbstractContextManager[Stepper]:
        """Give a stepper that has come to this place.

        Raises UserError for a step that there is not; Violation if a constructor does.
        """
        return self._steps.at(ordinals)

    def aside(self, ordinals: Sequence[int]) -> AbstractContextManager[Stepper]:
        """Give a stepper for slow work, of a second or two; otherwise as `at`.

        A model in Python is a program, which is not run again for that: there, all wait.
        """
        if self._listed.is_python:
            return self._steps.at(ordinals)
        with _held(self._lock):
            self._searches = self._searches or _SharedSteppers(self._listed)
        return self._searches.at(ordinals)


class _SharedSteppers:
    """Steppers of a model that is read for them; one request at a time uses them."""

    def __init__(self, listed: ListedModel) -> None:
        self.checked: CheckedModel | None = None
        self.about = ""
        if listed.cut is not None:
            from rebecsim.web.cut_scenarios import about

            loaded = listed.cut.opened()
            self.model, self.about = loaded.model, about(loaded)
        elif listed.is_python:
            self.model = python_model(listed.text, listed.file)
        else:
            self.checked = check_source(listed.text, listed.name)
            _require_few_values(self.checked)
            self.model = build_model(self.checked, listed.file.name)
        self._lock = threading.Lock()
        self._steppers: list[Stepper] = []

    @contextmanager
    def at(self, ordinals: Sequence[int]) -> Iterator[Stepper]:
        """Give a stepper that has come to this place.

        Raises UserError for a step that there is not; Violation if a constructor does.
        """
        with _held(self._lock):
            stepper = self._nearest(ordinals)
            common = shared_steps(stepper.ordinals, ordinals)
            stepper.undo(len(stepper) - common)
            stepper.follow(ordinals[common:])
            for each in stepper.breakpoints:
                stepper.clear(each)
            yield stepper

    def _nearest(self, ordinals: Sequence[int]) -> Stepper:
        """Take the stepper that shares the longest way, and mark it as used last."""

        def shared(each: Stepper) -> int:
            return shared_steps(each.ordinals, ordinals)

        near = max(self._steppers, key=shared, default=None)
        if near is None or (
            shared(near) < len(ordinals) - 1 and len(self._steppers) < _MOST_STEPPERS
        ):
            near = Stepper(self.model, checked=self.checked, seed=len(self._steppers))
            self._steppers.append(near)
        return near


def _require_few_values(checked: CheckedModel) -> None:
    """Raise UserError for a model whose variables take much of the memory that all share."""
    rebecs = Counter(each.class_name for each in checked.instances)
    fields = (
        rebecs[name] * flat_length(each.type)
        for name, reactive_class in checked.classes.items()
        for each in reactive_class.state_variables
    )
    values = max(sum(fields), sum(map(flat_length, checked.declared_types.values())))
    if values > MOST_VALUES:
        raise UserError(
            f"The variables of this model have {values:,} values, and the browser steps through "
            f"models of at most {MOST_VALUES:,}. Use `rebecsim step` instead."
        )


def shared_steps(one: Sequence[int], other: Sequence[int]) -> int:
    """Give the number of steps that two runs share at their beginning."""
    for place, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return place
    return min(len(one), len(other))


def go_on(stepper: Stepper, *, steps: int, until: int | None, stop_if: str) -> Stop:
    """Let a run go on by itself: so many steps, to a time, to a message or condition.

    Raises UserError or RebecaError for a condition that is wrong, and for time in a core model.
    """
    if stop_if:
        names = {
            f"{each.name}.{server.name}"
            for each in stepper.model.instances
            for server in each.reactive_class.__servers__.values()
        }
        kind = "message" if stop_if in names else "condition"
        stepper.stop_at(Breakpoint("message" if kind == "message" else "condition", stop_if))
    end = time.monotonic() + _PATIENCE

    def is_over() -> bool:
        return time.monotonic() > end

    steps = min(steps, LONGEST_RUN - len(stepper))
    if until is None:
        return stepper.run(steps=steps, interrupted=is_over)
    return stepper.go_to(until, steps=steps, interrupted=is_over)


class OpenModels:
    """The models in use; the least recently used ones are dropped."""

    def __init__(self, find: Callable[[str], ListedModel | None]) -> None:
        self._find = find
        self._lock = threading.Lock()
        self._open: OrderedDict[str, _OpenModel] = OrderedDict()

    def get(self, model: str) -> tuple[ListedModel, ModelSteppers]:
        """Open a model. Raises UnknownPlaceError, BusyError, and as loading does."""
        with self._lock:
            found = self._open.get(model)
        listed = self._find(model) if found is None else found.listed
        if listed is None or not listed.is_shown:
            raise UnknownPlaceError(
                "There is no model of this address: its text has been changed since, or it is "
                "not among the models of this server."
            )
        with self._lock:
            found = self._open.setdefault(model, found or _OpenModel(listed))
            self._open.move_to_end(model)
            while len(self._open) > _MOST_MODELS:
                self._open.popitem(last=False)
        return listed, found.steppers()


class _OpenModel:
    """A model that is loaded once; meanwhile others can be used."""

    def __init__(self, listed: ListedModel) -> None:
        self.listed = listed
        self._lock = threading.Lock()
        self._steppers: ModelSteppers | None = None

    def steppers(self) -> ModelSteppers:
        """Give its steppers. Raises BusyError, and as loading does."""
        with _held(self._lock):
            self._steppers = self._steppers or ModelSteppers(self.listed)
            return self._steppers


@contextmanager
def _held(lock: threading.Lock) -> Iterator[None]:
    """Hold a lock. Raises BusyError when others do not let go of it."""
    if not lock.acquire(timeout=PATIENCE):
        raise BusyError("Others are using this model. Try again in a few seconds.")
    try:
        yield
    finally:
        lock.release()
