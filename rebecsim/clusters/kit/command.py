"""A command made from what a kind says: an option for each key of its scenarios."""

from __future__ import annotations

from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any

import typer

from rebecsim.cli.app import Explain, Replications, Workers
from rebecsim.clusters.kinds import Command
from rebecsim.clusters.kit.options import help_of, of_key, parameter
from rebecsim.studies.scenario import StudyScenario
from rebecsim.studies.study import Study

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
    place = typer.Argument(
        help=help_of(keys[argument]), show_default=False, metavar=argument.upper()
    )
    parameters = [
        parameter(argument, Annotated[str, place], Parameter.empty),
        *(of_key(study.scenario, name) for name in own),
        *(parameter(name, hint, default) for name, (hint, default) in _SHARED.items()),
    ]

    def run(**given: Any) -> None:
        from rebecsim.cli.running import run_many
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
