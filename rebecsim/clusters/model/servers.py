"""Message servers by the names that scenarios give: `rebec.server`, `Class.server`."""

from __future__ import annotations

from collections.abc import Iterator

from rebecsim.actors import Model
from rebecsim.wording import suggestion

ALL = "all"
"""What stands for every message server."""


def servers_of(model: Model, text: str) -> tuple[tuple[int, str], ...]:
    """Give the message servers that a text names: the place of the rebec, the name in Rebeca."""
    owner, _, wanted = text.partition(".")
    return tuple(
        (place, server)
        for place, names, server in _servers(model)
        if text == ALL or (owner in names and server == wanted)
    )


def server_names(model: Model) -> list[str]:
    """Name the message servers, without their rebecs."""
    return list(dict.fromkeys(server for _, _, server in _servers(model)))


def server_fault(model: Model, text: str) -> str | None:
    """Say why a text names no message server; None if it does."""
    if servers_of(model, text):
        return None
    known = dict.fromkeys(
        f"{model.instances[place].name}.{server}" for place, _, server in _servers(model)
    )
    close = suggestion(text, list(known), "")
    if "." not in text:
        example = next(iter(known), "rebec.server")
        return f"{text!r} is no message server; write it with its rebec, such as {example}"
    owner = text.partition(".")[0]
    for place, instance in enumerate(model.instances):
        variables = (v.rebeca_name for v in instance.reactive_class.__state_variables__)
        if instance.name == owner and text.partition(".")[2] in variables:
            return f"{text} is a state variable; observe it as a value"
        if instance.name == owner and not close:
            names = ", ".join(server for at, _, server in _servers(model) if at == place)
            return f"there is no message server {text}; {owner} has {names or 'none'}"
    hint = close or f"known are {', '.join(known)}"
    return f"there is no message server {text}; {hint}"


def _servers(model: Model) -> Iterator[tuple[int, frozenset[str], str]]:
    """Give each message server: the place of its rebec, how that may be called, the server."""
    for place, instance in enumerate(model.instances):
        classes = (each.__name__ for each in instance.reactive_class.__mro__)
        names = frozenset({instance.name, *classes})
        for server in instance.reactive_class.__servers__.values():
            yield place, names, server.name
