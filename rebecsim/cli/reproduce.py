"""The command `reproduce`: repeat published experiments with the plug-in `reproductions`.

Only a checkout has the folder; the published tables are no part of an installed package."""

from __future__ import annotations

from pathlib import Path

import typer

import rebecsim
from rebecsim.cli.app import app
from rebecsim.clusters.kinds import commands, load_plugin_folder
from rebecsim.errors import UserError

FOLDER = Path(rebecsim.__file__).resolve().parents[1] / "reproductions"


def without_folder(_: typer.Context) -> None:
    """Run published experiments; compare with the printed figures.

    Only in a checkout: the published tables are no part of the installed package.
    """
    raise UserError(
        f"rebecsim reproduce needs the folder {FOLDER.name}, which the installed package does not "
        "have: get the source of rebecsim, run `pip install --editable '.[studies]'` in it, and "
        "try again"
    )


if (FOLDER / "__init__.py").is_file():
    load_plugin_folder(FOLDER)
    app.command("reproduce")(commands.find("reproduce").run)
else:
    anything = {"allow_extra_args": True, "ignore_unknown_options": True}
    app.command("reproduce", context_settings=anything)(without_folder)
