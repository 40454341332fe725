"""Loading models: from files, from text, or from objects in memory."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rebecsim.actors import Model
from rebecsim.errors import UserError
from rebecsim.generate import build_model
from rebecsim.generate.module import load_checked, load_model
from rebecsim.interface.shown import Drawing, Shown
from rebecsim.lang import CheckedModel, check_source
from rebecsim.lang.errors import read_source
from rebecsim.trust import is_program

if TYPE_CHECKING:
    from rich.table import Table

    from rebecsim.clusters.model.variants import ModelText
    from rebecsim.exploration import Mode
    from rebecsim.studies.plan import Plan


@dataclass(frozen=True)
class LoadedModel(Shown):
    """A model that can be run, with what was said about its text.

    Attributes:
        model: the rebecs and their classes.
        checked: its checked tree; None for Python that has no meaning in Rebeca.
        file: the path of its file.
        text: what the file holds; None for a model that did not come from one.
        against: why Python has no meaning in Rebeca, with file and line.

    >>> rs.load("ticket_service.rebeca").model.name
    'ticket_service'
    """

    model: Model
    checked: CheckedModel | None = None
    file: str = ""
    text: str | None = None
    against: str = ""

    @property
    def no_text(self) -> str:
        """Why the model cannot be written as Rebeca text; empty if it can."""
        if self.checked is None:
            return f"this model in Python has none: {self.against}"
        return f"its constructors have none: {self.checked.lacks}" if self.checked.lacks else ""

    @property
    def may_differ(self) -> bool:
        """Whether its code may do something else each time: it is not all understood."""
        return bool(self.no_text)

    def rebeca(self) -> str:
        """Write the model as Rebeca text, also one in Python.

        Raises UserError for Python that has no meaning in Rebeca.

        >>> rs.load("ticket_service.rebeca").rebeca().splitlines()[0]
        'reactiveclass Office(8) {'
        """
        from rebecsim.lang import print_model

        if self.no_text:
            raise UserError(f"{self.name}: {self.no_text}")
        assert self.checked is not None
        mark = "// rebeca: core\n" if self.model.core else ""
        return mark + print_model(self.checked.tree)

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.model.name

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the checker warns of, a text each."""
        return () if self.checked is None else tuple(map(str, self.checked.warnings))

    @property
    def terminal(self) -> tuple[str, ...]:
        """Conditions, where this asks for them, one of which must hold where a run ends."""
        return ()

    @property
    def finals(self) -> str:
        """The variable, if there is one, whose values where runs end are always asked for."""
        return ""

    def written(self, text: str) -> str:
        """Give a condition, or a property file, in the variables of the model."""
        return text

    def source(self, workers: int = 1) -> ModelText:
        """Give what so many processes need to run the model.

        Raises UserError if they are several and the model is none of a file or a text: then it
        exists in this process only.
        """
        from rebecsim.clusters.model.variants import ModelText, text_in_place_of

        if self.text is not None:
            return ModelText(self.file, self.text, self.model.core)
        if workers > 1:
            raise UserError(
                f"{self.name}: only this program knows the model, which is in no file; leave out "
                "`workers`, or write the model to a file and give the path"
            )
        name = re.sub(r"\W+", "_", self.name)
        return ModelText(f"{name}.py", text_in_place_of(self.model))

    def draw(self) -> Drawing:
        """Draw the rebecs and whom they know."""
        from rebecsim.report.graphs import topology_svg

        return Drawing(topology_svg(self.model))

    def save_drawing(
        self, path: str | Path, *, states: bool = False, mode: Mode | None = None
    ) -> None:
        """Write the drawing, or with `states` that of the state space, as `.svg` or `.dot`.

        Raises UserError for another ending, or a large state space; Violation for a model that goes
        wrong in a constructor, which has no states; OSError.
        """
        from rebecsim.report.graphs import MOST_DRAWN_STATES, draw_space, draw_topology

        if states:
            from rebecsim.exploration import Limits, pose, state_space

            problem = pose(self.model, mode=mode, checked=self.checked)
            draw_space(state_space(problem, Limits(states=MOST_DRAWN_STATES + 1)), Path(path))
        else:
            draw_topology(self.model, Path(path))

    def pictures(self) -> list[str]:
        """Give the drawing."""
        return [self.draw().svg]

    def __rich__(self) -> Table:
        """Give a table of the rebecs."""
        from rich.table import Table
        from rich.text import Text

        table = Table(title=Text(self.name, style="table.title"), box=None, pad_edge=False)
        for heading in ("Rebec", "Class", "Queue", "State variables"):
            table.add_column(heading)
        for instance in self.model.instances:
            kind = instance.reactive_class
            variables = [each.rebeca_name for each in kind.__state_variables__]
            size = str(kind.__queue_size__)
            table.add_row(*map(Text, (instance.name, kind.__name__, size, ", ".join(variables))))
        return table

    def __repr__(self) -> str:
        return f"<LoadedModel {self.name}: {len(self.model.instances)} rebecs>"


Texts = str | Sequence[str]
"""A text, or several."""


def texts(given: Texts) -> tuple[str, ...]:
    """Give texts that may be a single one."""
    return (given,) if isinstance(given, str) else tuple(given)


AnyModel = LoadedModel | Model | str | Path
"""A model that was loaded or written in Python, or the path of one."""


def load(path: str | Path, *, core: bool = False, cell: str = "", policy: str = "") -> LoadedModel:
    """Read a model from a `.rebeca` file, or from a `.py` file, which is imported.

    Of a scenario, a `.toml` file, it is the first cell, or the first of a `policy`, or the one of
    this name, if cells of its kind are models.
    With `core`, Rebeca text is Core Rebeca, which has no time. Raises RebecaError for errors in a
    `.rebeca` file, UserError for a file that holds no model.

    >>> rs.load("ticket_service.rebeca")
    <LoadedModel ticket_service: 3 rebecs>
    """
    file = Path(path)
    if file.suffix == ".toml":
        return load_cell(file, cell, policy)
    if is_program(file):
        from rebecsim.steps import understood

        model, text = load_model(file), read_source(file)
        checked, against = understood(model)
        return LoadedModel(model, checked, str(file), text, against)
    model, checked = load_checked(file, "core" if core else "timed")
    return LoadedModel(model, checked, str(file), read_source(file))


def load_cell(scenario: str | Path, cell: str = "", policy: str = "") -> LoadedModel:
    """Read a cell of a scenario as a model: the first one, or the first of a policy, or by name.

    So it is in kinds whose cells are models as they stand, written in Rebeca or made of rebecs.
    Raises ScenarioError for what is wrong with the file, UserError for an unknown cell, or a kind
    whose cells are no models.
    """
    from rebecsim.clusters.scenarios import load as load_scenario

    return cell_of(load_scenario(scenario).plan(), cell, policy, scenario)


def cell_of(plan: Plan, cell: str, policy: str, scenario: str | Path) -> LoadedModel:
    """Read a cell of a planned scenario, which errors call so; as `load_cell`."""
    from rebecsim.clusters.kit.rebec_study import RebecSetup

    known = list(dict.fromkeys(each.cell.policy for each in plan.cells))
    if policy and policy not in known:
        raise UserError(f"{scenario}: no policy {policy}; it has {', '.join(known)}")
    cells = [each for each in plan.cells if policy in ("", each.cell.policy)]
    chosen = [each for each in cells if cell in ("", each.name)]
    if not chosen:
        names = ", ".join(each.name for each in cells)
        raise UserError(f"{scenario}: no cell {cell}; it has {names}")
    setup = chosen[0].setup
    if isinstance(setup, RebecSetup):
        return LoadedModel(setup.model(), file=str(scenario))
    text = getattr(setup, "model_text", None)
    if text is None:
        raise UserError(f"{scenario}: cells of the kind `{plan.study.kind}` are no Rebeca models")
    return loads(text, chosen[0].name)


def loads(text: str, name: str = "model", *, core: bool = False) -> LoadedModel:
    """Read a model from Rebeca text; `name` is what the model is called.

    Raises RebecaError for errors in the text.

    >>> text = "reactiveclass A(1) { A() { self.go(); } msgsrv go() {} } main { A a():(); }"
    >>> rs.loads(text, "small")
    <LoadedModel small: 1 rebecs>
    """
    file = f"{name}.rebeca"
    checked = check_source(text, file, "core" if core else "timed")
    return LoadedModel(build_model(checked, file), checked, file, text)


def as_loaded(model: AnyModel) -> LoadedModel:
    """Take whatever is a model, or the path of one. Raises as `load`."""
    if isinstance(model, LoadedModel):
        return model
    if isinstance(model, Model):
        from rebecsim.steps import understood

        checked, against = understood(model)
        return LoadedModel(model, checked, against=against)
    return load(model)
