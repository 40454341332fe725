"""The words on a precision that was asked for."""

import numpy as np

from rebecsim.clusters.dispatch.measures import DEADLINE_MISSES
from rebecsim.report import precision_notes
from rebecsim.studies.cells import Cell
from rebecsim.studies.moments import CellMoments
from rebecsim.studies.precision import parse_precision, reached_by

TARGET = parse_precision("1%", DEADLINE_MISSES)


def reached(policy: str, misses: list[int]):
    columns = {
        "queue_misses": np.array(misses),
        "update_misses": np.zeros(len(misses), dtype=int),
    }
    cell = Cell.of(policy, arrivals="a", lengths="l", app_masters=2)
    return reached_by(
        policy, [CellMoments.from_columns(cell, columns, {"end": len(misses)})], TARGET
    )


WIDE = reached("EDF", [0, 20] * 160)
NARROW = reached("MDF", [400, 401] * 160)
NEVER = reached("LLF", [0] * 320)


def test_a_precision_that_was_not_reached_is_said_with_what_was() -> None:
    (note,) = precision_notes([(TARGET, [WIDE, NARROW])])
    assert note == (
        "Precision: 1 % of Deadline misses was NOT reached by EDF (13 %), as 320 runs of each cell "
        "were the limit; 1 of 2 policies reached it. A higher --max-replications goes further."
    )


def test_a_precision_that_was_reached_is_said_with_the_runs() -> None:
    assert precision_notes([(TARGET, [NARROW])]) == [
        "Precision: 1 % of Deadline misses, reached by every policy after 320 runs of each cell."
    ]


def test_a_figure_that_is_always_0_is_explained() -> None:
    first, second = precision_notes([(TARGET, [NARROW, NEVER])])
    assert "reached by every policy" in first
    assert second == (
        "LLF: Deadline misses are 0 in all 320 runs, so there is no relative precision. With 95 % "
        "confidence fewer than 0.94 % of runs have any; 1 % is enough to stop."
    )
