"""What SQL is answered from: the tables over some stored runs.

Cells of different kinds have different coordinates and columns; a view has all of them, and what a
run does not have is null in its rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
from pyarrow import fs

from rebecsim.studies.cell import Condition, Value
from rebecsim.studies.differences import PairDifference, pairwise_differences
from rebecsim.studies.paired_results import paired_moments
from rebecsim.studies.parts import WORDS
from rebecsim.studies.rows import REPLICATION
from rebecsim.studies.statistics import estimate
from rebecsim.studies.store import StoredRun
from rebecsim.studies.study import PlannedCell

__all__ = ["kind_tables", "view_of", "view_schema"]

_RUNS = pa.schema(
    [
        ("run", pa.string()),
        ("kind", pa.string()),
        ("scenario", pa.string()),
        ("title", pa.string()),
        ("policies", pa.list_(pa.string())),
        ("cells", pa.int64()),
        ("finished", pa.int64()),
        ("replications", pa.int64()),
        ("seed", pa.int64()),
        ("choice_law", pa.string()),
        ("rebecsim", pa.string()),
        ("started", pa.timestamp("s")),
        ("bytes", pa.int64()),
    ]
)
_DIFFERENCE = (
    ("measure", pa.string()),
    ("first", pa.string()),
    ("second", pa.string()),
    ("difference", pa.float64()),
    ("difference_low", pa.float64()),
    ("difference_high", pa.float64()),
    ("p_value", pa.float64()),
    ("holm_p_value", pa.float64()),
    ("shown", pa.bool_()),
    ("better", pa.string()),
    ("runs", pa.int64()),
)
_TYPES: Mapping[type, pa.DataType] = {int: pa.int64(), float: pa.float64(), str: pa.string()}


def kind_tables(runs: Sequence[StoredRun]) -> tuple[str, ...]:
    """Name the further tables that any of the runs has."""
    return tuple(dict.fromkeys(name for run in runs for name in _kept_tables(run)))


def view_of(name: str, runs: Sequence[StoredRun]) -> pa.Table | ds.Dataset:
    """Give a view over some runs, whose parts are undamaged."""
    match name:
        case "runs":
            rows: Iterable[Mapping[str, Any]] = map(_run_row, runs)
        case "cells":
            rows = (row for run in runs for row in _cell_rows(run))
        case "differences":
            rows = (row for run in runs for row in _difference_rows(run))
        case _:
            return _dataset(name, runs)
    return pa.Table.from_pylist(list(rows), view_schema(name, runs))


def view_schema(name: str, runs: Sequence[StoredRun]) -> pa.Schema:
    """Give the columns of a view."""
    match name:
        case "runs":
            return _RUNS
        case "cells":
            measures = dict.fromkeys(each.name for run in runs for each in run.contents.measures)
            figures = [f"{measure}{end}" for measure in measures for end in ("", "_low", "_high")]
            return pa.schema(
                [
                    *_coordinates(runs),
                    ("finished", pa.bool_()),
                    ("replications", pa.int64()),
                    *((figure, pa.float64()) for figure in figures),
                    ("bytes", pa.int64()),
                ]
            )
        case "differences":
            apart = {each for run in runs for each in run.contents.apart}
            named = [each for each in _coordinates(runs) if each[0] in apart]
            return pa.schema([("run", pa.string()), *named, *_DIFFERENCE])
        case "replications":
            columns = {REPLICATION: "int64"}
            columns |= {n: kind for run in runs for n, kind in run.contents.columns.items()}
        case _:
            columns = {
                n: kind for run in runs for n, kind in run.contents.tables.get(name, {}).items()
            }
    return pa.schema([*_coordinates(runs), *((n, _plain(kind)) for n, kind in columns.items())])


def _plain(kind: str) -> pa.DataType:
    return pa.string() if kind == WORDS else pa.type_for_alias(kind.removesuffix("?"))


def _coordinates(runs: Sequence[StoredRun]) -> list[tuple[str, pa.DataType]]:
    """Run, cell and all coordinates; one that is a text somewhere is a text everywhere."""
    kinds: dict[str, set[type]] = {}
    for run in runs:
        for cell in run.cells:
            for name, value in _values(cell).items():
                kinds.setdefault(name, set()).add(type(value))
    found = [(name, pa.string()) for name in ("run", "cell", "policy")]
    for name, types in kinds.items():
        widest = next((each for each in (str, float) if each in types), int)
        found.append((name, _TYPES[widest]))
    return found


def _run_row(run: StoredRun) -> dict[str, object]:
    started, scenario = run.record["started"], run.scenario
    return {
        "run": run.name,
        "kind": run.kind,
        "scenario": scenario.get("name"),
        "title": scenario.get("title") or scenario.get("name"),
        "policies": list(run.policies),
        "cells": len(run.cells),
        "finished": len(run.finished),
        "replications": run.replications,
        "seed": scenario.get("seed"),
        "choice_law": scenario.get("choice_law"),
        "rebecsim": run.record["versions"]["rebecsim"],
        "started": started and datetime.fromisoformat(started).astimezone(UTC).replace(tzinfo=None),
        "bytes": run.size,
    }


def _cell_rows(run: StoredRun) -> Iterator[dict[str, object]]:
    """Every cell of a run, with its figures if it is finished."""
    finished = set(run.finished)
    for cell in run.cells:
        row: dict[str, object] = {**_named(run, cell), "finished": cell in finished}
        if cell in finished:
            row["bytes"] = run.results.part(cell).stat().st_size
            row["replications"] = run.replications_of(cell)
            row |= _figures(run, cell)
        yield row


def _figures(run: StoredRun, cell: PlannedCell) -> dict[str, object]:
    (moments,) = run.results.moments([cell])
    figures: dict[str, object] = {}
    for measure in run.contents.measures:
        found = estimate(measure, [moments])
        figures[measure.name] = found.value if found.is_defined else None
        figures |= {f"{measure.name}_low": found.low, f"{measure.name}_high": found.high}
    return figures


def _difference_rows(run: StoredRun) -> Iterator[dict[str, object]]:
    """Every two policies of a run that is complete, in each measure."""
    if len(run.finished) < len(run.cells):
        return
    groups: dict[Condition, list[PlannedCell]] = {}
    for cell in run.cells:
        groups.setdefault(cell.cell.condition.only(run.contents.apart), []).append(cell)
    measures, baseline = run.contents.measures, run.contents.baseline
    counters = sorted({name for each in measures for name in each.counters})
    for condition, cells in groups.items():
        paired = paired_moments(run.results, cells, counters)
        is_random = any(cell.is_random for cell in cells)
        for pair in pairwise_differences(measures, paired, has_chance=is_random, baseline=baseline):
            yield {"run": run.name, **dict(condition.coordinates), **_difference(pair)}


def _difference(pair: PairDifference) -> dict[str, object]:
    found = pair.estimate
    return {
        "measure": pair.metric.name,
        "first": pair.first,
        "second": pair.second,
        "difference": found.value if found.is_defined else None,
        "difference_low": found.low,
        "difference_high": found.high,
        "p_value": pair.p_value,
        "holm_p_value": pair.adjusted_p_value,
        "shown": pair.is_shown,
        "better": pair.better,
        "runs": pair.runs,
    }


def _dataset(name: str, runs: Sequence[StoredRun]) -> ds.Dataset:
    """All files of a table as one dataset; coordinates are constants of a file and cost nothing."""
    form, files = ds.ParquetFileFormat(), fs.LocalFileSystem()
    schema = view_schema(name, runs)
    folder = "parts" if name == "replications" else name
    parts = [
        form.make_fragment(str(path), files, _partition(_named(run, cell), schema))
        for run in runs
        for cell in run.finished
        if (path := run.results.table(folder, cell)).exists() or folder == "parts"
    ]
    return ds.FileSystemDataset(parts, schema, form, files)


def _named(run: StoredRun, cell: PlannedCell) -> dict[str, Value]:
    where = {"run": run.name, "cell": cell.name, "policy": cell.cell.policy}
    return {**where, **_values(cell)}


def _values(cell: PlannedCell) -> dict[str, Value]:
    """What a cell is, beside its policy: what that consists of, and its coordinates."""
    return {**cell.parameters, **dict(cell.cell.condition.coordinates)}


def _partition(coordinates: Mapping[str, Value], schema: pa.Schema) -> ds.Expression:
    expression = None
    for name, value in coordinates.items():
        kind = schema.field(name).type
        given = str(value) if pa.types.is_string(kind) else value
        equal = ds.field(name) == pa.scalar(given, kind)
        expression = equal if expression is None else expression & equal
    return expression


def _kept_tables(run: StoredRun) -> Iterator[str]:
    """Name the tables that a run has files of."""
    for name in run.contents.tables:
        if (run.results.directory / name).is_dir():
            yield name
