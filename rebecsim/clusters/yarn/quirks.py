"""Unexpected behaviour of DSS, and which parts of it a run repeats."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Quirks:
    """What DSS does, one by one; without any, a run does what stands after the semicolon.

    Attributes:
        one_second: first heartbeats of nodes are spread over a second, and an AppMaster looks for
            its container every second, whatever the periods of heartbeats are; over the periods.
        last_rack: of the racks that become a node each, only the last one is there; all are.
        errors_twice: what errors of memory and bumps add to a task is added again when it is
            launched, if there is no error of its duration; it is added once.
        full_is_ideal: a container is elastic if its memory is not the ideal one, even if it is
            all that was asked for; if it is less than was asked for.
        memory_first: where resources are compared for gaps and timelines, cores count only if
            memories are equal; both must be enough.
        last_timeline: PEEK's timeline of a node takes what a job has there when the last of its
            containers is scheduled for what it has at most; the most at any time.
        elastic_everywhere: RACE_LOCKSTEP gives less memory on all nodes; on those that may.
        no_gaps_foreseen: RACE_LOCKSTEP's look ahead leaves gaps; it fills them as the cluster does.
        gaps_weighed: PEEK_EACH_ELASTIC looks ahead for every container that could end a gap, too,
            on the node with more free than it has; it does not.
        unforeseen_gone: an AppMaster whose end has not been foreseen counts as gone when gaps are
            looked for under PEEK; as one that stays.
        errors_foreseen: a look ahead has errors of durations of its own; it has none.
        unlooked: no look ahead is taken when a job is submitted that has waited for another; there
            is one.
        looks_again: when PEEK has looked ahead as a job was submitted, it looks again at its next
            period; only if something has happened.
        silent: SRTF counts no rejection of a task that does not fit, and looks no further at a
            heartbeat when the last job in its order has got its last container; it counts, and
            looks.
        asleep: nodes that have nothing to say sleep on when the next tasks of a job are others than
            before, or there are none; they are woken, as these may fit.
        raced_once: RACE_LOCKSTEP chooses when the first job is submitted; whenever one is.
        fixed_draws: what is random is drawn from generators with fixed seeds, whole numbers as
            Python 2 draws them; from the seed of the run, apart for every job.
    """

    one_second: bool = False
    last_rack: bool = False
    errors_twice: bool = False
    full_is_ideal: bool = False
    memory_first: bool = False
    last_timeline: bool = False
    elastic_everywhere: bool = False
    no_gaps_foreseen: bool = False
    gaps_weighed: bool = False
    unforeseen_gone: bool = False
    errors_foreseen: bool = False
    unlooked: bool = False
    looks_again: bool = False
    silent: bool = False
    asleep: bool = False
    raced_once: bool = False
    fixed_draws: bool = False


QUIRKS_OF_DSS = Quirks(**dict.fromkeys((each.name for each in fields(Quirks)), True))
"""All of them."""
