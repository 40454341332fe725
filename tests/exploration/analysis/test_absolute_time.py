from __future__ import annotations

import pytest

from rebecsim.actors import Instance, Int, Model, Rebec, message_server, state_variable
from rebecsim.exploration import Limits, explore
from rebecsim.exploration.analysis.footprints import reads_absolute_time
from rebecsim.generate import build_model
from rebecsim.lang import CheckedModel, check_source


def _checked(statement: str) -> CheckedModel:
    return check_source(
        f"""
        reactiveclass A(3) {{
          statevars {{ int x; boolean b; }}
          A() {{ self.go(); }}
          msgsrv go() {{ {statement} self.go() after(1); }}
        }}
        main {{ A a():(); }}
        """
    )


@pytest.mark.parametrize(
    "statement",
    [
        "x = 1;",
        "x = now - currentMessageArrival;",
        "b = now > currentMessageArrival;",
        "x = currentMessageWaitingTime;",
    ],
)
def test_differences_of_times_are_folded(statement: str) -> None:
    checked = _checked(statement)
    model = build_model(checked)
    assert reads_absolute_time(model, checked) is None
    assert explore(model, checked=checked).verdict == "satisfied"


@pytest.mark.parametrize(
    "statement",
    [
        "x = now;",
        "b = now > 7;",
        "b = now % 2 == 0;",
        "x = now + currentMessageArrival;",
        "x = currentMessageArrival;",
        "x = currentMessageDeadline - now;",
        "int t = now; x = t;",
        "self.go() after(now);",
    ],
)
def test_points_in_time_are_not(statement: str) -> None:
    checked = _checked(statement)
    model = build_model(checked)
    assert reads_absolute_time(model, checked) == reads_absolute_time(model, None) == "A.go"
    found = explore(model, checked=checked, limits=Limits(states=50))
    assert found.verdict != "satisfied"
    assert found.absolute_time == "A.go reads it"


def _stamp(rebec: Rebec) -> int:
    return rebec.now


class _Clocked(Rebec, queue_size=2):
    x: int = state_variable(Int)

    def __init__(self) -> None:
        self.x = self.now
        self.go()


class ByFunction(_Clocked):
    @message_server
    def go(self) -> None:
        self.x = _stamp(self)
        self.go(after=1)


class ByProperty(_Clocked):
    @property
    def stamp(self) -> int:
        return self.now

    @message_server
    def go(self) -> None:
        self.x = self.stamp
        self.go(after=1)


class ByBackDoor(_Clocked):
    @message_server
    def go(self) -> None:
        self.x = getattr(self, "now")  # noqa: B009
        self.go(after=1)


class ByInnerFunction(_Clocked):
    @message_server
    def go(self) -> None:
        self.x = max(rebec.now for rebec in [self])
        self.go(after=1)


class OnlyAtTheStart(_Clocked):
    @message_server
    def go(self) -> None:
        self.go(after=1)


@pytest.mark.parametrize("reactive_class", [ByFunction, ByProperty, ByBackDoor, ByInnerFunction])
def test_python_classes_are_seen_through(reactive_class: type[Rebec]) -> None:
    model = Model("clocked", (Instance("a", reactive_class),))
    assert reads_absolute_time(model, None) is not None
    assert explore(model, limits=Limits(states=50)).verdict == "undecided"


def test_a_constructor_may_read_the_time() -> None:
    found = explore(Model("clocked", (Instance("a", OnlyAtTheStart),)))
    assert (found.verdict, found.states, found.absolute_time) == ("satisfied", 1, None)


def test_a_violation_that_only_absolute_time_shows_is_found() -> None:
    found = explore(build_model(_checked("assertion(now < 5);")))
    assert found.verdict == "assertion failed"
    assert found.states == 6  # at the times 0 to 5, and at 5 the assertion fails
