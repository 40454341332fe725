"""A command made from what a kind says: an option for each key of its scenarios."""

from __future__ import annotations

from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import typer
from pydantic.fields import FieldInfo

from rebecsim.cli.app import Explain, Replications, Workers
from rebecsim.clusters.kinds import Command
from rebecsim.studies.scenario import StudyScenario
from rebecsim.studies.study import Study
from rebecsim.studies.units import with_unit

_SHARED: dict[str, tuple[Any, Any]] = {
    "replications": (Replications, None),
    "seed": (
        Annotated[int | None, typer.Option(min=0, help="Where the random numbers start.")],
        None,
    ),
    "out": (
        Annotated[Path | None, typer.Option(help="Keep results and report in this directory.")],
        None,
    ),
    "workers": (Workers, None),
    "explain": (Explain, False),
}
"""The options behind those of a kind: types and defaults."""


def scenario_command(study: Study, argument: str, example: str) -> Command:
    """Make the command of a kind: it compares what a scenario with such keys would.

    `argument` is the key that is given without an option, a file. The options are the other keys of
    the kind, as `--key`; a list is given by repeating its option. `example` follows `rebecsim` in
    the help, and the command is called like the kind.
    """
    keys = study.scenario.model_fields
    own = [name for name in keys if name not in StudyScenario.model_fields and name != argument]
    parameters = [
        _argument(argument, keys[argument]),
        *(_option(name, keys[name]) for name in own),
        *(_parameter(name, hint, default) for name, (hint, default) in _SHARED.items()),
    ]

    def run(**given: Any) -> None:
        from rebecsim.cli.compare import run_many
        from rebecsim.clusters.scenarios import load
        from rebecsim.studies.scenario_files import ScenarioText

        out, workers, explain = (given.pop(name) for name in ("out", "workers", "explain"))
        said = {name: value for name, value in given.items() if value is not None and value != []}
        values = {"kind": study.kind, "name": study.kind, "replications": 1, **said}
        loaded = load(ScenarioText("the options", values, {}, Path()))
        run_many(loaded, out, workers, "auto", explain)

    vars(run)["__signature__"] = Signature(parameters)
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    run.__doc__ = study.__doc__
    return Command(name=study.kind, run=run, example=example)


def _parameter(name: str, hint: Any, default: Any) -> Parameter:
    """Make a parameter as Typer has to see it."""
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=hint)


def _argument(name: str, found: FieldInfo) -> Parameter:
    option = typer.Argument(help=_help(found), show_default=False, metavar=name.upper())
    return _parameter(name, Annotated[str, option], Parameter.empty)


def _option(name: str, found: FieldInfo) -> Parameter:
    default = Parameter.empty if found.is_required() else found.default
    if get_origin(found.annotation) is not tuple:
        option = typer.Option(help=_help(found), show_default=not found.is_required())
        return _parameter(name, Annotated[found.annotation, option], default)
    entry: Any = get_args(found.annotation)[0]
    words = "|".join(map(str, get_args(entry))) if get_origin(entry) is Literal else None
    option = typer.Option(
        *(("--policy",) if name == "policies" else ()),
        help=f"{_help(found)[:-1]}; repeatable.",
        metavar=words,
        show_default=False if found.is_required() else ", ".join(map(str, found.default)),
    )
    several: Any = list[str] if words else list[entry]  # Typer knows no lists of choices
    if found.is_required():
        return _parameter(name, Annotated[several, option], default)
    return _parameter(name, Annotated[several | None, option], None)


def _help(found: FieldInfo) -> str:
    said = with_unit(found.description or "", found.json_schema_extra)
    return f"{said[:1].upper()}{said[1:]}."
