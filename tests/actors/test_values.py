from dataclasses import dataclass

from rebecsim.actors.values import Constant, value_text


@dataclass(frozen=True)
class Configuration(Constant):
    text: str


class Plain(Constant):
    """A constant without a text of its own."""


def test_what_never_changes_goes_by_its_class_if_it_is_long_or_says_nothing() -> None:
    assert value_text(Configuration("short")) == "Configuration(text='short')"
    assert value_text([Configuration(200 * "x"), Plain()]) == "[Configuration, Plain]"
