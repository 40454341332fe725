"""Try cures: explore each changed model as the model was explored, and compare their races.

No cure may make a message wait for ever. A model ends up in a set of states that lead to each other
and to no others (a bottom component). What waits in all of them and is served in none will never be
served; nothing else waits for ever on all fair runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from rebecsim.exploration.checks import Checks, Limits, Problem, pose
from rebecsim.exploration.cycles import components
from rebecsim.exploration.races.cures.atomic import inline_self_sends, merge_sends
from rebecsim.exploration.races.cures.change import (
    OUTCOMES,
    Change,
    DoesNotApplyError,
    Guarded,
    Outcome,
    Proposal,
    Tried,
    at_one_rebec,
    swapped,
)
from rebecsim.exploration.races.cures.priority import (
    guards,
    of_rebecs,
    of_servers,
    of_servers_everywhere,
)
from rebecsim.exploration.races.finding import MOST_FOLLOWED, find_races
from rebecsim.exploration.races.result import RACE_KINDS, Contender, RaceGroup, Races
from rebecsim.exploration.races.step_graph import NO_ACTION, Arrays, arrays_of
from rebecsim.exploration.search import Progress
from rebecsim.exploration.state_graph import StateGraph, build_graph
from rebecsim.exploration.states.effects import BreachKey
from rebecsim.exploration.states.transitions import Mode
from rebecsim.generate import build_model
from rebecsim.lang import CheckedModel, RebecaError, check_source, print_model
from rebecsim.wording import counted


@dataclass(frozen=True)
class RaceQuery:
    """The arguments of `find_races` for a model that was read from Rebeca.

    The limits hold for each model that is explored by itself.
    """

    mode: Mode | None = None
    checks: Checks | None = None
    limits: Limits = field(default_factory=Limits)
    abstract: tuple[str, ...] = ()
    observe: tuple[str, ...] = ()
    most_followed: int = MOST_FOLLOWED
    progress: Callable[[Progress], None] | None = None

    def races(self, checked: CheckedModel, name: str) -> Races:
        """Find the races of a model."""
        return find_races(build_model(checked, name), checked=checked, **vars(self))

    def graph(self, checked: CheckedModel, name: str) -> tuple[Problem, StateGraph]:
        """Build the state graph of a model."""
        problem = pose(
            build_model(checked, name),
            mode=self.mode,
            checks=self.checks,
            checked=checked,
            abstract=self.abstract,
            absolute=self.limits.horizon is not None,
        )
        return problem, build_graph(problem, limits=self.limits, progress=self.progress)


_JOINED = "+"  # stands for message servers that a cure has merged; no name has it
_Pair = frozenset[Contender]


Judgement = tuple[Outcome, tuple[str, ...]]
"""The outcome of a cure, and the reasons."""


def violations(races: Races) -> tuple[BreachKey, ...]:
    """Give all breaches that are reachable in a model, as far as it was explored."""
    found = {key for group in races.groups for keys in group.breaches for key in keys}
    found |= {each.key for each in races.unexplained}
    if races.in_constructor is not None:
        found.add(BreachKey(races.in_constructor.verdict, text=races.in_constructor.text))
    return tuple(sorted(found))


class _Comparison:
    """Compares a model with the one in which a race was to be cured.

    Services of the message servers `merged` count as one.
    """

    def __init__(
        self, before: Races, race: RaceGroup, after: Races, merged: frozenset[str]
    ) -> None:
        self._before, self._race, self._after, self._merged = before, race, after, merged
        self._matter = {self._pair(each): each for each in after.groups if each.matters}
        self._matter_before = {self._pair(each): each for each in before.groups if each.matters}
        self._reachable = set(map(self._key, violations(after)))
        self._reachable_before = set(map(self._key, violations(before)))

    def judgement(self) -> Judgement:
        added = self._reachable - self._reachable_before
        if self._after.in_constructor is not None or (added and not self._before.bounds):
            return _judgement("worse", *map(str, sorted(added)))
        mine = {self._key(key) for keys in self._race.breaches for key in keys}
        left = sorted(map(str, mine & self._reachable))
        here = self._matter.get(self._pair(self._race))
        if left and here is not None:
            return _judgement("no help", *left)
        if left:
            return _judgement("hides", *(f"still reachable: {each}" for each in left))
        if added:
            return _judgement("undecided", "the model itself was not explored completely")
        if not self._after.is_decided:
            return _judgement("undecided", "a limit was reached; nothing wrong so far")
        return self._without_its_violations(here)

    def _without_its_violations(self, here: RaceGroup | None) -> Judgement:
        gone = "its violation cannot be reached any more"
        if here is not None:
            if self._race.is_harmful:
                return _judgement("lessens", f"{gone}, but {here.id}: results differ")
            return _judgement("no help", "results still differ")
        moved = [each.id for each in self._newly_mattering()]
        if moved:
            what = f"the order matters now: {', '.join(moved)}"
            if self._race.is_harmful:
                return _judgement("lessens", gone, what)
            return _judgement("hides", what)
        swapping = [each.id for each in self._swapping()]
        if swapping and not self._race.is_harmful:
            return _judgement("hides", f"its order is still decided by {', '.join(swapping)}")
        return _judgement("removes", *self._remarks())

    def _newly_mattering(self) -> Iterator[RaceGroup]:
        """Give the races that matter now, or have a worse outcome."""
        for pair, group in self._matter.items():
            known = self._matter_before.get(pair)
            if known is None or RACE_KINDS.index(group.kind) < RACE_KINDS.index(known.kind):
                yield group

    def _swapping(self) -> Iterator[RaceGroup]:
        """Give the races that matter and let the two services change places."""
        for group in self._matter.values():
            if any(self._same(pair) == self._pair(self._race) for pair in swapped(group)):
                yield group

    def _remarks(self) -> Iterator[str]:
        yield "; ".join(map(str, sorted(self._reachable))) if self._reachable else "satisfied"
        if self._matter:
            kinds = counted(len(self._matter), "kind")
            yield f"the order still matters in {kinds} of races, no more than before"

    # --- names -----------------------------------------------------------------------------------

    def _key(self, key: BreachKey) -> BreachKey:
        return key._replace(server=_JOINED) if key.server in self._merged else key

    def _pair(self, group: RaceGroup) -> _Pair:
        return self._same(group.contenders)

    def _same(self, contenders: tuple[Contender, Contender]) -> _Pair:
        return frozenset(
            each._replace(server=_JOINED) if each.server in self._merged else each
            for each in contenders
        )


def _judgement(outcome: Outcome, *found: str) -> Judgement:
    return outcome, found


Service = tuple[str, str]
"""A rebec and one of its message servers."""


class BottomComponents:
    """The bottom components: sets of states that a run never leaves."""

    def __init__(self, problem: Problem, graph: StateGraph) -> None:
        self._runner = problem.system.runner
        self._states = graph.search.states
        self._arrays = arrays_of(graph)
        self._components = list(_bottoms(self._arrays))

    def waiting(self) -> frozenset[Service]:
        """Give the services that some run waits for, for ever and in vain."""
        return frozenset(
            each for component in self._components for each in self._waiting_in(component)
        )

    def _waiting_in(self, component: Sequence[int]) -> Iterator[Service]:
        always: set[tuple[int, int]] | None = None
        for state in component:
            here = {
                (owner, message.number)
                for owner in range(len(self._runner.rebecs))
                for message in self._states[state][owner].bag
            }
            always = here if always is None else always & here
        served = {self._service(edge) for edge in self._edges(component)}
        for owner, number in sorted((always or set()) - served):
            yield self._named(owner, number)

    def _edges(self, component: Sequence[int]) -> Iterator[int]:
        first = self._arrays.first
        for state in component:
            for edge in range(int(first[state]), int(first[state + 1])):
                if self._arrays.action[edge] != NO_ACTION:
                    yield edge

    def _service(self, edge: int) -> tuple[int, int]:
        action = self._arrays.actions[self._arrays.action[edge]]
        return action.owner, action.number

    # --- guards ----------------------------------------------------------------------------------

    def is_ever_done(self, guarded: Guarded) -> bool:
        """Whether the flag is ever set when a guarded service comes."""
        return any(
            self._is_set(state, guarded)
            for state in range(self._arrays.states)
            if self._is_served(guarded, [state])
        )

    def is_refused_for_ever(self, guarded: Guarded) -> bool:
        """Whether some bottom component has the guarded service, and never the flag set."""
        return any(
            self._is_served(guarded, component)
            and not any(self._is_set(state, guarded) for state in component)
            for component in self._components
        )

    def _is_served(self, guarded: Guarded, states: Sequence[int]) -> bool:
        services = map(self._service, self._edges(states))
        return any(self._named(*service) == (guarded.rebec, guarded.server) for service in services)

    def _named(self, owner: int, number: int) -> Service:
        return str(self._runner.rebecs[owner]), self._runner.server_at(owner, number).name

    def _is_set(self, state: int, guarded: Guarded) -> bool:
        owner = list(map(str, self._runner.rebecs)).index(guarded.rebec)
        place = self._runner.place_of(owner, guarded.flag)
        return bool(self._states[state][owner].variables[place])


def _bottoms(arrays: Arrays) -> Iterator[list[int]]:
    """Give the components that no edge leaves and in which something happens."""
    graph = arrays.graph
    first, target = graph.first.tolist(), graph.target.tolist()
    for component in components(first, target, range(arrays.states)):
        members = set(component)
        targets = [
            target[edge] for node in component for edge in range(first[node], first[node + 1])
        ]
        if targets and members.issuperset(targets):
            yield component


@dataclass(frozen=True)
class RaceCures:
    """The cures tried for a race, the best first."""

    race: RaceGroup
    tried: tuple[Tried, ...]

    @property
    def best(self) -> Tried | None:
        """The simplest cure that removes the race, if one does."""
        return next((each for each in self.tried if each.outcome == "removes"), None)


@dataclass(frozen=True)
class Cures:
    """The cures of the races of a model that matter. `source` is its text, printed as theirs are.

    `is_interrupted`: the user did not wait for all of them.
    """

    source: str
    of_races: tuple[RaceCures, ...]
    is_interrupted: bool = False


def try_cures(
    checked: CheckedModel, races: Races, asked: RaceQuery | None = None, only: str | None = None
) -> Cures:
    """Try all simple cures for the races that matter, or for the `only` one of an id.

    `races` is what `find_races` has said of the model, and `asked` how it was asked. Of races that
    differ by an exchange of rebecs, the first is tried.
    """
    trial = _Trial(checked, races, asked or RaceQuery())
    shown = [races.groups[places[0]] for places in races.alike]
    if only is not None:
        shown = [each for each in races.groups if each.id == only]
    return trial.cures([each for each in shown if each.matters])


class _Trial:
    """Tries cures, each changed text once."""

    def __init__(self, checked: CheckedModel, before: Races, asked: RaceQuery) -> None:
        self._checked, self._before, self._asked = checked, before, asked
        self._checked_texts: dict[str, CheckedModel] = {}
        self._explored: dict[str, Races] = {}
        self._bottoms: dict[str, BottomComponents] = {}

    def cures(self, groups: list[RaceGroup]) -> Cures:
        """Try all cures of some races."""
        found = []
        for group in groups:
            tried = [self._try(group, each) for each in _proposals(self._checked, group)]
            tried.sort(key=lambda each: OUTCOMES.index(each.outcome))
            found.append(RaceCures(group, tuple(tried)))
        return Cures(self._source, tuple(found), self._asked.limits.is_interrupted())

    def _try(self, race: RaceGroup, proposal: Proposal) -> Tried:
        made = Tried(proposal.kind, proposal.id, proposal.title, "n/a", ())
        try:
            change = proposal.make()
            source = self._text(change)
            after = self._races(source)
        except DoesNotApplyError as reason:
            return replace(made, found=(str(reason),))
        outcome, found = _Comparison(self._before, race, after, change.merged).judgement()
        if outcome in ("removes", "lessens"):
            waiting = self._kept_waiting(source, change)
            outcome, found = ("worse", waiting) if waiting else (outcome, found)
        return replace(
            made,
            outcome=outcome,
            found=found,
            source=source,
            states=after.states,
            violations=violations(after),
        )

    # --- texts -----------------------------------------------------------------------------------

    @cached_property
    def _source(self) -> str:
        return self._printed(Change(self._checked.tree))

    def _printed(self, change: Change) -> str:
        mark = "// rebeca: core\n" if self._checked.dialect == "core" else ""
        return mark + print_model(change.tree)

    def _text(self, change: Change) -> str:
        """Print a change. Raises DoesNotApplyError if the language does not allow it."""
        source = self._printed(change)
        try:
            self._read(source)
        except RebecaError as error:
            raise DoesNotApplyError(error.message) from error
        return source

    def _read(self, source: str) -> CheckedModel:
        if source not in self._checked_texts:
            model, dialect = self._before.model, self._checked.dialect
            self._checked_texts[source] = check_source(source, model, dialect)
        return self._checked_texts[source]

    # --- exploring -------------------------------------------------------------------------------

    def _races(self, source: str) -> Races:
        if source not in self._explored:
            self._explored[source] = self._asked.races(self._read(source), self._before.model)
        return self._explored[source]

    def _bottoms_of(self, source: str) -> BottomComponents:
        if source not in self._bottoms:
            self._bottoms[source] = BottomComponents(
                *self._asked.graph(self._read(source), "cured")
            )
        return self._bottoms[source]

    def _kept_waiting(self, source: str, change: Change) -> tuple[str, ...]:
        """Say which messages a cure keeps waiting for ever."""
        after = self._bottoms_of(source)
        before = frozenset() if self._before.bounds else self._bottoms_of(self._source).waiting()
        reasons = [
            f"{rebec}.{server} may wait for ever"
            for rebec, server in sorted(after.waiting() - before)
        ]
        if change.guarded is not None:
            reasons += _refused(after, change.guarded)
        return tuple(reasons)


def _refused(after: BottomComponents, guarded: Guarded) -> Iterator[str]:
    name = f"{guarded.rebec}.{guarded.server}"
    if not after.is_ever_done(guarded):
        yield f"{name} is never done any more"
    elif after.is_refused_for_ever(guarded):
        yield f"{name} may come too early for ever"


def _proposals(checked: CheckedModel, race: RaceGroup) -> Iterable[Proposal]:
    """Give the cures of a race, the simplest first, each once."""
    one, two = race.contenders
    found: list[Proposal] = []
    pairs = at_one_rebec(checked, race)
    if one.rebec != two.rebec:
        for first, second in ((one, two), (two, one)):
            found.append(of_rebecs(checked, first, second))
            found.append(of_servers_everywhere(checked, first, second))
    for first, second in pairs:
        found.append(of_servers(checked, first, second))
        found.append(of_servers(checked, second, first))
    found += [inline_self_sends(checked, one), inline_self_sends(checked, two)]
    found += [merge_sends(checked, first, second) for first, second in pairs]
    for first, second in pairs:
        found += guards(checked, first, second) + guards(checked, second, first)
    return {each.id: each for each in found}.values()
