"""Run replications on the native engine, with results as from the Python engine.

Models laid out for it are kept on disk between runs: reading, checking and laying out the model of
a cell takes longer than a hundred of its runs on compiled code. An entry is found by its content:
the text of the model and the program that read it, that is, its files and the versions of Python
and NumPy. So neither an edited model nor an edited rebecsim finds what is no longer true. What
`rebecsim.trust` does not trust is made again.
"""

from __future__ import annotations

import io
import marshal
import pickle
import sys
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np

from rebecsim.actors import ChoiceLaw, Model
from rebecsim.actors.rebec import INITIAL_SENDER
from rebecsim.actors.semantics import MOST_AT_ONE_TIME
from rebecsim.actors.watchdog import EndlessError
from rebecsim.generate.step import NotNativeError
from rebecsim.lang import syntax, walk
from rebecsim.lang.checked import BY_NODE, CheckedModel
from rebecsim.native.arrays import Integers
from rebecsim.native.cache import prepare
from rebecsim.native.codes import ARGUMENTS, NEVER, SITE_SHIFT, SLOTS, Ended, First
from rebecsim.native.layout import (
    BASE,
    NativeModel,
    endless_text,
    failure_text,
    load_step,
    missed_text,
)
from rebecsim.native.loops.simulation import (
    EVENT_ARGUMENTS,
    OUTCOME,
    SETTINGS,
    STATE_WIDTH,
    STEPS,
    TIME,
    Bags,
    ReplicationResults,
    SimulatedModel,
    Work,
    run_replications,
)
from rebecsim.simulation.simulator import OUTCOMES, RANDOM, MessageOrder, RunResult
from rebecsim.simulation.trace import Event, changes
from rebecsim.trust import KEPT_MODELS, kept_file, read_kept, write_kept

_MARK = b"rebecsim model 1\n"
_PACKAGES = (
    "rebecsim",
    *("rebecsim.actors", "rebecsim.generate", "rebecsim.native"),
    *("rebecsim.lang", "rebecsim.lang.reading", "rebecsim.lang.checking"),
)
_TEMPLATES = "rebecsim.templates"
_MADE_AGAIN = frozenset({"model", "checked", "step"})


def kept_model(source: str, file: str, lay_out: Callable[[], NativeModel]) -> NativeModel:
    """Give the model with this text from disk; `lay_out` makes it where it is not there.

    `file` is the name of the text, which its errors may show. What `lay_out` makes is kept; where
    the directory cannot be written, for this process only. Raises as `lay_out`.
    """
    path = kept_file(KEPT_MODELS, _program(), file, source)
    native = _read(path)
    if native is None:
        native = lay_out()
        if path is not None:
            _write(path, native, file)
    return native


@cache
def _program() -> str:
    """Hash everything beside its text that the layout of a model depends on."""
    digest = sha256(f"{sys.version} {np.__version__}".encode())
    patterns = dict.fromkeys(_PACKAGES, "*.[pl]*") | {
        _TEMPLATES: "*.j2",
        "rebecsim.lib": "*.rebeca",
    }
    for package, pattern in patterns.items():
        spec = find_spec(package)
        assert spec is not None
        for folder in spec.submodule_search_locations or ():
            for path in sorted(Path(folder).glob(pattern)):
                digest.update(f"{package} {path.name}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def _read(path: Path | None) -> NativeModel | None:
    payload = read_kept(path, _MARK)
    if payload is None:
        return None
    # Written by this program, to a directory of the user's own: see `kept_files`.
    tree, tables, code, laid_out = pickle.loads(zlib.decompress(payload))  # noqa: S301
    found: dict[str, Any] = {
        name: {id(node): value for node, value in pairs}
        for name, pairs in zip(BY_NODE, tables, strict=True)
    }
    return NativeModel(
        model=_model_of(marshal.loads(code)),
        checked=CheckedModel(**tree, **found),
        step=load_step(laid_out["source"].text)["step"],
        **laid_out,
    )


def _write(path: Path, native: NativeModel, file: str) -> None:
    from rebecsim.generate import python_source

    checked = native.checked
    nodes = {id(node): node for node in walk(checked.tree)}
    tables = [
        [(nodes[node], value) for node, value in getattr(checked, name).items()] for name in BY_NODE
    ]
    tree = {
        each.name: getattr(checked, each.name)
        for each in fields(checked)
        if each.name not in BY_NODE
    }
    laid_out = {
        each.name: getattr(native, each.name)
        for each in fields(native)
        if each.name not in _MADE_AGAIN
    }
    code = marshal.dumps(compile(python_source(checked, file), f"<python of {file}>", "exec"))
    parts = io.BytesIO()
    with suppress(RecursionError):  # what is nested too deeply is laid out again next time
        _Pickler(parts).dump((tree, tables, code, laid_out))
        write_kept(path, _MARK, zlib.compress(parts.getvalue(), 1))


class _Pickler(pickle.Pickler):
    """Writes a syntax tree as calls of its classes: it is read twice as fast so."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, syntax.Span):
            return syntax.Span, tuple(getattr(value, each.name) for each in fields(value))
        if isinstance(value, syntax.Node):
            names = [each.name for each in fields(value) if each.name != "span"]
            return _node, (type(value), value.span, *(getattr(value, name) for name in names))
        return NotImplemented


def _node(kind: type[syntax.Node], span: syntax.Span, *parts: Any) -> syntax.Node:
    return kind(*parts, span=span)


def _model_of(code: CodeType) -> Model:
    namespace: dict[str, Any] = {"__name__": "rebecsim_generated"}
    exec(code, namespace)  # noqa: S102 - written from a checked tree
    model = namespace["model"]
    assert isinstance(model, Model)
    return model


_ROOM = 1_000  # events of a traced run at first; more are made room for when they come
_INDEX = (1 << SITE_SHIFT) - 1  # of an alternative, in what is noted of a choice
_MOST_STEPS = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class NativeRuns:
    """The results of some replications.

    Attributes:
        ends: outcome (index into `OUTCOMES`), steps and last time of each; shape (runs, 3).
        values: the observed variables; shape (runs, variables).
        detail: the text of the violation that ended the last of them, or empty.
        events: the trace of the last of them, where it was wanted; see `native_events`.
        choices: the indices of the alternatives drawn in it, with their sites.
    """

    ends: Integers
    values: Integers
    detail: str
    events: Integers
    choices: Integers


def require_compiled(native: NativeModel) -> None:
    """Compile the step of a model and the loop around it, unless that is done.

    Raises NotNativeError if it is impossible.
    """
    try:
        prepare(native.step, run_replications)
    except Exception as error:  # whatever a compiler that fails may raise
        raise NotNativeError(
            f"{native.model.name}: its message servers cannot be compiled ({type(error).__name__} "
            "in Numba); use the engine python or auto"
        ) from error


def run_native(
    native: NativeModel,
    *,
    key: tuple[int, int],
    replications: range,
    until: int | None,
    max_steps: int | None = None,
    choice_law: ChoiceLaw = "fair",
    order: MessageOrder = RANDOM,
    observed: Sequence[int] = (),
    trace: bool = False,
    at_one_time: int = MOST_AT_ONE_TIME,
) -> NativeRuns:
    """Run replications; `observed` are the cells of the variables to read when a run is over.

    The trace is that of the last replication. Raises NotNativeError if the model cannot be compiled
    and EndlessError for a message server that does not end.
    """
    require_compiled(native)
    settings = np.array(
        [
            _first(order),
            bool(order.first),
            order.is_fifo or choice_law != "rmc",
            native.model.uses_global_priority,
            native.model.core,
            replications.start,
            len(replications),
            _MOST_STEPS if until is None else until,
            -1 if max_steps is None else max_steps,
            choice_law == "rmc",
            native.sequence,
            at_one_time,
        ],
        np.int64,
    )
    assert len(settings) == SETTINGS
    model = SimulatedModel(
        servers=native.servers,
        ranks=_ranks(native, order.first or order.last),
        params=native.params,
        cells=native.cells,
        messages=native.bags,
        counts=native.counts,
    )
    room = _ROOM
    while True:
        work = _work(native, key, room if trace else 0)
        results = _results(native, len(replications), observed, room if trace else 0)
        run_replications(native.step, settings, model, work, results)
        ends, message = results.ends, results.last_message
        if (ends[:-1, OUTCOME] == Ended.NOT_ENDING).any():
            raise EndlessError(endless_text(native, work.ctx, message))
        if not (trace and (ends[:-1, OUTCOME] == Ended.NO_ROOM).any()):
            break
        room *= 4
    detail = ""
    if len(replications):
        outcome = ends[-2, OUTCOME]
        if outcome == Ended.DEADLINE_MISSED:
            detail = missed_text(native, message, int(ends[-2, TIME]))
        elif outcome == Ended.TIME_STANDS_STILL:
            time = int(ends[-2, TIME])
            detail = f"{at_one_time:,} messages were served at time {time}"
        elif outcome > Ended.DEADLINE_MISSED:
            detail = failure_text(native, work.ctx, message, work.sends)
    steps = int(ends[-2, STEPS]) if len(replications) else 0
    return NativeRuns(
        ends[:-1], results.columns_and_values[1:], detail, results.events[:steps], work.choices
    )


def _work(native: NativeModel, key: tuple[int, int], choices: int) -> Work:
    """Make room for work, and for so many choices."""
    rebecs, rows = len(native.rebecs), len(native.bags)
    bags = Bags(
        rebecs=native.rebecs,
        messages=native.bags.copy(),
        places=np.zeros(rows, np.int64),
        states=np.zeros((rebecs, STATE_WIDTH), np.int64),
    )
    return Work(
        bags=bags,
        cells=native.cells.copy(),
        sends=np.zeros((rows + 1, native.row_width), np.int64),
        ctx=np.zeros(SLOTS, np.int64),
        streams=native.streams(key),
        choices=np.zeros(choices, np.int64),
        found=np.zeros(rebecs, np.int64),
    )


def _results(
    native: NativeModel, runs: int, observed: Sequence[int], events: int
) -> ReplicationResults:
    """Make room for the results of so many runs, and for so many events."""
    widest = max((cells.size for cells in native.source.cells.values()), default=0)
    width = EVENT_ARGUMENTS + native.row_width - ARGUMENTS + widest
    values = np.zeros((runs + 1, len(observed)), np.int64)
    values[0] = observed
    return ReplicationResults(
        ends=np.zeros((runs + 1, 3), np.int64),
        columns_and_values=values,
        last_message=np.zeros(native.row_width, np.int64),
        events=np.zeros((events, width if events else 0), np.int64),
    )


def _first(order: MessageOrder) -> First:
    if order.is_fifo:
        return First.FIFO
    return First.ANY if order == RANDOM else First.RANKED


def _ranks(native: NativeModel, name: str) -> Integers:
    """Give 1 for the message servers of a name, by class and number, and 0 for all others."""
    ranks = np.zeros(native.servers.shape[:2], np.int64)
    for place, owner in enumerate(native.source.cells):
        for server in native.checked.classes[owner].servers:
            ranks[place, server.number] = server.name == name
    return ranks


def simulate_native(
    native: NativeModel,
    *,
    key: tuple[int, int],
    choice_law: ChoiceLaw = "fair",
    order: MessageOrder = RANDOM,
    until: int | None = None,
    max_steps: int | None = None,
    at_one_time: int = MOST_AT_ONE_TIME,
) -> tuple[RunResult, tuple[Event, ...]]:
    """Do what `simulate` does with the streams of replication 0; also gives the trace.

    The result holds no system. It does not notice that a run has come back to where it was, but
    ends after `at_one_time` messages at one time.
    """
    runs = run_native(
        native,
        key=key,
        replications=range(1),
        until=until,
        max_steps=max_steps,
        choice_law=choice_law,
        order=order,
        trace=True,
        at_one_time=at_one_time,
    )
    outcome, steps, time = runs.ends[0].tolist()
    result = RunResult(OUTCOMES[outcome], steps, time, runs.detail, None)
    return result, native_events(native, runs)


# --- traces --------------------------------------------------------------------------------------


def native_events(native: NativeModel, runs: NativeRuns) -> tuple[Event, ...]:
    """Give the trace of the last replication as the events that the Python engine notes."""
    views = native.views
    cells = [native.cells[int(row[BASE]) :].tolist() for row in native.rebecs]
    alternatives = _alternatives(native.checked)
    parameters = [
        [server.parameters for server in each.reactive_class.__servers__.values()]
        for each in native.model.instances
    ]
    found = []
    drawn = 0
    arguments_end = EVENT_ARGUMENTS + native.row_width - ARGUMENTS
    for step, row in enumerate(runs.events.tolist()):
        time, finished, index, number, sender, arrival, deadline, choices = row[:EVENT_ARGUMENTS]
        view = views[index]
        before, cells[index] = cells[index], row[arguments_end:]
        places = runs.choices[drawn:choices].tolist()
        owner = native.checked.classes[native.checked.instances[index].class_name]
        values = alternatives[owner.name]
        found.append(
            Event(
                step=step,
                time=time,
                finished=finished,
                rebec=view.name,
                server=view.servers[number][0],
                sender=views[sender].name if sender >= 0 else INITIAL_SENDER,
                arrival=arrival,
                deadline=None if deadline == NEVER else deadline,
                arguments=view.arguments(number, row[EVENT_ARGUMENTS:]),
                choices=tuple(place & _INDEX for place in places),
                changed=changes(view.state(before, time), view.state(cells[index], finished)),
                drawn=tuple(values[place >> SITE_SHIFT][place & _INDEX] for place in places),
                parameters=parameters[index][number],
            )
        )
        drawn = choices
    return tuple(found)


def _alternatives(checked: CheckedModel) -> dict[str, dict[int, tuple[Any, ...]]]:
    """Give, for each class, the alternatives of the choices at each of its sites."""
    found: dict[str, dict[int, tuple[Any, ...]]] = {}
    for name, each in checked.classes.items():
        found[name] = {} if each.base is None else dict(found[each.base])
        for server in each.tree.message_servers:
            for node in walk(server):
                if isinstance(node, syntax.Choice):
                    drawn = checked.distribution_of(node)
                    if drawn is not None:
                        found[name][checked.choice_site(node)] = drawn
                        continue
                    if not all(map(checked.is_constant, node.alternatives)):
                        raise NotNativeError(
                            f"{name}.{server.name} chooses between values that are not constants, "
                            "which compiled code cannot record; choose the python engine"
                        )
                    values = tuple(map(checked.constant_of, node.alternatives))
                    found[name][checked.choice_site(node)] = values
    return found
