"""Parts of a state: what is encoded comes back, and equal parts are equal states."""

from collections import Counter, deque
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, strategies as st

from rebecsim.actors import Constant, StatePart, Unordered
from rebecsim.exploration.states.rebec_states import UnsuitableValueError, Values, rank


class Token(Constant):
    def __init__(self, name: str) -> None:
        self.name = name

    def __str__(self) -> str:
        return self.name


class Box(StatePart):
    """A part with attributes."""

    def __init__(self, **held: Any) -> None:
        self.__dict__.update(held)


class Slots(StatePart):
    """A part with slots, one of which may have no value."""

    __slots__ = ("left", "right")

    def __init__(self, left: Any) -> None:
        self.left = left


TOKEN = Token("a token")
VALUES = Values(())

plain = st.one_of(st.integers(), st.booleans(), st.text(max_size=3), st.none(), st.just(TOKEN))
held = st.recursive(
    plain,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.lists(inner, max_size=3).map(deque),
        st.dictionaries(st.integers(0, 9), inner, max_size=3),
        st.dictionaries(st.sampled_from("abc"), st.integers(), max_size=3).map(Counter),
        st.dictionaries(st.sampled_from("abc"), inner, max_size=3).map(lambda each: Box(**each)),
        inner.map(Slots),
    ),
    max_leaves=8,
)


def contents(value: Any) -> Any:
    """Give what something holds, in a form that can be compared."""
    match value:
        case Box():
            return Box, {name: contents(each) for name, each in sorted(vars(value).items())}
        case Slots():
            return Slots, contents(value.left), hasattr(value, "right")
        case dict():
            return type(value), [(key, contents(each)) for key, each in value.items()]
        case list() | tuple() | deque():
            return type(value), [contents(each) for each in value]
    return type(value), value


def as_numbers(value: Any) -> str:
    """Write contents with booleans as the numbers that they are equal to."""
    text = repr(value).replace("True", "1").replace("False", "0")
    return text.replace("<class 'bool'>", "<class 'int'>")


@given(held)
def test_what_is_encoded_comes_back(value: Any) -> None:
    part = Box(value=value)
    code = VALUES.encode(part)
    again = VALUES.decode(code)
    assert contents(again) == contents(part)
    assert VALUES.encode(again) == code
    assert hash(VALUES.encode(again)) == hash(code)


@given(held, held)
def test_equal_codes_are_those_of_equal_parts(one: Any, other: Any) -> None:
    if VALUES.encode(Box(value=one)) == VALUES.encode(Box(value=other)):
        assert as_numbers(contents(one)) == as_numbers(contents(other))


@given(held)
def test_any_two_parts_have_an_order(value: Any) -> None:
    part = VALUES.encode(Box(value=value))
    assert rank(part) == rank(VALUES.encode(VALUES.decode(part)))


def test_what_is_shared_is_shared_again() -> None:
    line = [1, 2]
    again = VALUES.decode(VALUES.encode(Box(one=line, other=line, apart=[1, 2])))
    assert again.one is again.other
    assert again.apart is not again.one
    again.one.append(3)
    assert again.other == [1, 2, 3]


def test_a_part_may_hold_itself() -> None:
    part = Box(name="ring")
    part.next = part
    again = VALUES.decode(VALUES.encode(part))
    assert again.next is again


class Pair(NamedTuple):
    level: Any
    name: str


def test_an_array_comes_back_and_can_be_changed_without_the_state() -> None:
    level = np.arange(6).reshape(2, 3)
    code = VALUES.encode(Box(level=level, pair=Pair(level, "a")))
    again = VALUES.decode(code)
    assert again.level is again.pair.level
    again.level += 1
    assert again.pair.level.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert VALUES.decode(code).level.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_a_tuple_with_names_is_one_again() -> None:
    pair = Pair([1], "a")
    again = VALUES.decode(VALUES.encode(pair))
    assert type(again) is Pair
    assert again == pair
    assert VALUES.encode(Pair(1, "a")) != VALUES.encode((1, "a"))


def test_the_order_of_a_dict_matters_unless_it_means_nothing() -> None:
    one, other = {1: [2], 3: [4]}, {3: [4], 1: [2]}
    assert VALUES.encode(one) != VALUES.encode(other)
    code = VALUES.encode(Unordered(other))
    assert code == VALUES.encode(Unordered(one))
    again = VALUES.decode(code)
    assert type(again) is Unordered
    assert list(again.items()) == list(one.items())


def test_what_is_no_state_is_refused() -> None:
    with pytest.raises(UnsuitableValueError, match="a set cannot be part of a state"):
        VALUES.encode(Box(value={1}))
