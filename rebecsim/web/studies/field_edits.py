"""Apply changes of a form to the text of a scenario."""

from __future__ import annotations

from rebecsim.studies.scenarios.toml_edits import with_value
from rebecsim.web.studies.fields import FormField, read, shown, value_at
from rebecsim.web.studies.scenario_texts import values_of


def with_field(text: str, of: FormField | None, typed: str) -> str:
    """Put what was typed into a field into a text; a field or a text that is none changes nothing.

    Where the field decides which keys there are beside it, those that are no more are taken out.
    Raises UserError for what cannot be read.
    """
    values = values_of(text)
    if of is None or of.shape in ("tables", "entry") or values is None:
        return text
    if typed == shown(of, values):
        return text
    value = read(of, typed)
    text = with_value(text, of.path, value)
    if of.keys and isinstance(value, str):
        beside = value_at(values, of.path[:-1])
        for key in set(beside) - of.keys.get(value, frozenset(beside)):
            text = with_value(text, (*of.path[:-1], key), None)
    return text


def with_table(text: str, of: FormField | None) -> str:
    """Add a table to a list, if the field is a list, or take it out, if it is a table of one."""
    if of is None or of.shape not in ("tables", "entry"):
        return text
    if of.shape == "entry":
        return with_value(text, of.path, None)
    return with_value(text, (*of.path, len(of.inner)), of.new)
