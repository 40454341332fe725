"""The built-in scenarios by what they ask, for the page from which studies are started."""

from __future__ import annotations

from dataclasses import dataclass

from rebecsim.web.studies.scenario_texts import builtin_titles, values_of

_KINDS = {
    "yarn": "YARN: which job gets the next container?",
    "mapreduce": "MapReduce on Hadoop 1: how do queues share slots?",
    "dispatch": "Deadlines: which request goes first?",
    "stages": "Workflows with deadlines: who gets the slots?",
    "batch": "Batch machines: who waits?",
    "model": "A model of your own: which values are best?",
}
_QUESTIONS = {
    "against_edf": "Short deadlines: when does EDF start jobs that are about to be late?",
    "against_fifo": "Growing lengths: when does FIFO make short jobs wait behind long ones?",
    "against_mdf": "Ever longer jobs: when does MDF let too many of them die?",
    "against_priority": "Long jobs of high priority: when does serving them first cost too much?",
    "backfilling_or_fairshare": "Does backfilling or fairshare serve users better?",
    "budgets_or_deadlines": "Is it better to plan workflows by budgets of laxity?",
    "capacity_apart": "Do small jobs gain from queues of their own?",
    "capacity_interleaved": "Which settings serve four small jobs before each long one best?",
    "capacity_or_fair": "Capacity, Fair or FIFO: which serves many small jobs best?",
    "capacity_separated": "Which settings serve small jobs behind long ones best?",
    "changed_queues": "What would a changed capacity-scheduler.xml do?",
    "elastic_or_regular": "When does less memory for a task make its job faster?",
    "fifo_or_fair": "FIFO, Fair or DRF: which is fairer to four users of one cluster?",
    "for_edf": "Long deadlines: how much does it pay to serve the most urgent request first?",
    "for_priority": "Short jobs of high priority: how much does it pay to serve them first?",
    "fresh_readings": "How old do the readings of sensors get?",
    "natjam_for_mdf": "Too few AppMasters: should jobs be evicted by deadline or by laxity?",
    "natjam_near_mlf": "Evictions without overhead: does laxity do as well as deadlines?",
    "peek_with_errors": "How well does PEEK have to know its tasks?",
    "slots_by_deadlines": "Which policy meets most deadlines on map and reduce slots?",
    "user_limit": "Which user limit lets small jobs pass large ones?",
}


@dataclass(frozen=True)
class Asked:
    """A built-in scenario: what it asks, its name, and the title of its reports."""

    question: str
    name: str
    title: str


def questions_by_kind() -> dict[str, list[Asked]]:
    """Give the questions below the heading of their kind, kinds with the most users first."""
    found: dict[str, list[Asked]] = {heading: [] for heading in _KINDS.values()}
    for name, (kind, title) in builtin_titles().items():
        asked = Asked(_QUESTIONS.get(name, title), name, title)
        found.setdefault(_KINDS.get(kind, kind), []).append(asked)
    return {heading: asked for heading, asked in found.items() if asked}


def question_of(text: str) -> str:
    """Give what a built-in scenario with this text asks, as it may have been changed."""
    return _QUESTIONS.get(str((values_of(text) or {}).get("name")), "")
