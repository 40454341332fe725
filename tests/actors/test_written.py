"""Values, messages and choices as people read them."""

from __future__ import annotations

import pytest

from rebecsim.actors import Rebec, call_text, change_texts, drawn_text, message_server, value_text


class Office(Rebec, queue_size=2):
    @message_server
    def buy(self, customer: Rebec, from_: int) -> None:
        """Take two arguments, one of which has a name that Python keeps for itself."""

    @message_server
    def close(self) -> None:
        """Take nothing."""


@pytest.mark.parametrize(
    ("value", "text"),
    [(True, "true"), (None, "null"), ([1, [False]], "[1, [false]]"), (1.5, "1.5"), ("ann", "ann")],
)
def test_values_are_written_as_in_rebeca(value: object, text: str) -> None:
    assert value_text(value) == text


def test_arguments_have_the_names_of_the_parameters() -> None:
    servers = Office.__servers__
    assert servers["buy"].parameters == ("customer", "from")
    assert servers["close"].parameters == ()
    assert call_text("buy", ("customer", "from"), ["ann", 3]) == "buy(customer=ann, from=3)"
    assert call_text("close", (), []) == "close()"


def test_arguments_whose_names_are_not_known_stand_alone() -> None:
    assert call_text("buy", (), ["ann", True]) == "buy(ann, true)"


def test_a_choice_is_shown_by_its_value_and_by_its_number_where_that_is_all_there_is() -> None:
    assert drawn_text([7, True]) == "7, true"
    assert drawn_text([]) == ""


def test_changes_are_assignments() -> None:
    assert change_texts({"left": 1, "open": False}.items()) == ("left = 1", "open = false")
