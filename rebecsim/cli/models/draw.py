"""The command draw."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rebecsim.cli.app import Core, complain, open_model, say
from rebecsim.cli.commands import app
from rebecsim.cli.models.asking import ModelFile, Tts
from rebecsim.exit_codes import ExitCode

if TYPE_CHECKING:
    from rebecsim.exploration import Mode
    from rebecsim.interface import LoadedModel


@app.command()
def draw(
    model: ModelFile,
    out: Annotated[Path, typer.Option(help="The drawing: .svg or .dot.")],
    states: Annotated[
        bool, typer.Option("--states", help="Draw the state space, if it is small.")
    ] = False,
    tts: Tts = False,
    core: Core = False,
) -> None:
    """Draw who knows whom in a model, or its state space."""
    from rebecsim.report.graphs import draw_topology

    loaded = open_model(model, core)
    if states:
        _draw_states(loaded, "TTS" if tts else None, out)
    else:
        draw_topology(loaded.model, out)
    say(f"drawing in {out}")


def _draw_states(model: LoadedModel, mode: Mode | None, out: Path) -> None:
    from rebecsim.actors import Violation
    from rebecsim.exploration import Limits, pose, state_space
    from rebecsim.report.graphs import MOST_DRAWN_STATES, draw_space

    try:
        problem = pose(model.model, mode=mode, checked=model.checked)
    except Violation as violation:
        complain(f"{violation.verdict}: {violation}, in a constructor: no states to draw")
        raise typer.Exit(ExitCode.VIOLATED) from violation
    draw_space(state_space(problem, Limits(states=MOST_DRAWN_STATES + 1)), out)
