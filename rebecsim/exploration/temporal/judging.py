"""Judge temporal formulas, with a run that shows the verdict where there is one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rebecsim.exploration.graphs.state_graph import StateGraph
from rebecsim.exploration.paths.path import Path, path_along
from rebecsim.exploration.states.outcome import Breach
from rebecsim.exploration.temporal.automaton import automaton_of
from rebecsim.exploration.temporal.branching import Evaluation
from rebecsim.exploration.temporal.formulas import PosedFormula
from rebecsim.exploration.temporal.labelled import STAYS, endless
from rebecsim.exploration.temporal.labelling import Labelling, Labels
from rebecsim.exploration.temporal.lasso import accepted_run
from rebecsim.exploration.temporal.ltl import normal
from rebecsim.exploration.temporal.product import Product, product_of
from rebecsim.exploration.temporal.stretches import stretches_of
from rebecsim.exploration.temporal.until_times import TooManyTimesError
from rebecsim.exploration.temporal.verdict import PropertyVerdict, PropertyWord
from rebecsim.limits import LimitError


class TemporalJudge:
    """Judges formulas on one graph of all states, which is labelled once for all of them."""

    def __init__(
        self, graph: StateGraph, formulas: Sequence[PosedFormula], fair: bool = True
    ) -> None:
        self._graph = graph
        self._system = graph.search.system
        self._endless = endless(graph)
        self._fair = fair
        labelling = Labelling(graph.search.states)
        self._labels = {each.name: labelling.labels(each.conditions) for each in formulas}

    def judge(self, formula: PosedFormula) -> PropertyVerdict:
        """Judge one formula."""
        labels = self._labels[formula.name]
        return (
            self._linear(formula, labels) if formula.kind == "ltl" else self._timed(formula, labels)
        )

    # --- LTL -----------------------------------------------------------------------------------

    def _linear(self, formula: PosedFormula, labels: Labels) -> PropertyVerdict:
        negated = normal(formula.formula, formula.number_of, negated=True)
        try:
            automaton = automaton_of(negated)
        except LimitError as error:
            raise LimitError(f"{formula.place}: {formula.name}: {error}") from None
        product = product_of(self._endless, labels, automaton)
        wanted = ((1 << automaton.untils) - 1) << product.shift
        if self._fair:
            wanted |= self._endless.fair
        mode = self._system.mode
        advancing = wanted if mode == "core" else wanted | self._endless.advancing
        breach = Breach("property violated", formula.name)
        run = self._accepted(product, advancing, breach)
        if run is not None:
            return PropertyVerdict(formula.name, "ltl", "violated", mode, run)
        if product.reaches_cut:
            return PropertyVerdict(formula.name, "ltl", "unknown", mode, note=_CUT)
        run = None if mode == "core" else self._accepted(product, wanted, breach)
        if run is not None:
            return PropertyVerdict(formula.name, "ltl", "unknown", mode, run, True, _STANDS)
        return PropertyVerdict(formula.name, "ltl", "satisfied", mode)

    def _accepted(self, product: Product, wanted: int, breach: Breach) -> Path | None:
        run = accepted_run(product, wanted)
        return None if run is None else self._path([*run.stem, *run.loop], len(run.stem), breach)

    def _path(self, places: Sequence[int], loop: int | None, breach: Breach | None) -> Path:
        """Go along transitions of the endless graph; a state that stays has no step."""
        edges = [int(self._endless.edge[place]) for place in places]
        steps = [each for each in edges if each != STAYS]
        if loop is not None:
            loop = sum(each != STAYS for each in edges[:loop])
        return path_along(self._system, self._ordinals(steps), breach, loop)

    def _ordinals(self, edges: Sequence[int]) -> tuple[int, ...]:
        places = np.array(edges, np.int64)
        first = self._graph.first
        sources = np.searchsorted(first[1:], places, side="right")
        return tuple((places - first[sources]).tolist())

    # --- TCTL ----------------------------------------------------------------------------------

    def _timed(self, formula: PosedFormula, labels: Labels) -> PropertyVerdict:
        mode = self._system.mode
        if self._graph.cut.any():
            return PropertyVerdict(formula.name, "tctl", "unknown", mode, note=_CUT)
        graph = self._endless
        duration = self._graph.duration.astype(np.int64)
        lasting = np.where(graph.edge == STAYS, 1, duration[graph.edge])
        evaluation = Evaluation(formula, stretches_of(graph, lasting), labels)
        try:
            holds = bool(evaluation.truth(formula.formula)[0])
        except TooManyTimesError:
            return PropertyVerdict(formula.name, "tctl", "unknown", mode, note=_TIMES)
        verdict: PropertyWord = "satisfied" if holds else "violated"
        shown = evaluation.shown(formula.formula, holds)
        run = None
        if shown is not None:
            breach = None if holds else Breach("property violated", formula.name)
            run = self._path(shown.edges, shown.before, breach)
        return PropertyVerdict(formula.name, "tctl", verdict, mode, run)


_STANDS = "it holds as long as time advances, and not on a run in which time stands still"
_CUT = "a limit was reached before all states were seen"
_TIMES = "an exact time (`==`) can be met in too many ways to look at"
