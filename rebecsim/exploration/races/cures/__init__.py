"""Cures: small changes of a model that may remove a race, each tested by exploration.

**Which cures.** A race is between two services, each of a rebec's message server. If they are at
different rebecs, the services of one rebec that change places because of it are looked at, too, and
what the two are or send to, where that is at one rebec.

* *priority*: the first service before the second one. For two message servers of one rebec this is
  `@priority`: the first gets a number right before that of the second, and all other orders stay as
  they are. For two rebecs it is `@priority` in main, or `@globalPriority` at the message servers.
  Both ways round.
* *atomic*: what was two steps is one. A message that a rebec sends to itself, with neither `after`
  nor `deadline`, is not sent: what its message server does is done at the end of the one that sent
  it, or of the constructor. And two messages that one statement behind the other sends to the same
  rebec at the same time become one message, whose server does what the two did, in that order.
* *guard*: a flag says that the first service was done; the second one looks at it. If it comes too
  early, it is put back by a message to itself, for the same time or a time unit later, or dropped.
  The flag stays set ("the first"), or the second service takes it back ("each time").

The change is made to the syntax tree and printed, and what is explored is the printed text.

**What is said of them**, from exploring alone, the first that applies:

* worse: something goes wrong that could not before; or, when nothing else would be left to say
  against the cure, a message waits for ever that did not before, or the guarded service is never
  done, or from some state on never again
* no help: the race matters as before
* hides: the race matters no more, but what it decided is not safe: its violation is still
  reachable, or another race has come to matter, or one that still does makes the two services
  change places
* undecided: within the bounds it is none of these, but not everything was looked at
* lessens: the violation cannot be reached any more, but results still differ for good
* removes: neither its violation nor its different results are left, and nothing new is wrong

Violations are told apart as in `rebecsim.exploration.states.effects`. If `deadlock` asks for
them, one that the model had anyway hides that there are more: say with `terminal` what is none.
"""

from rebecsim.exploration.races.cures.change import CURE_KINDS, OUTCOMES, CureKind, Outcome, Tried
from rebecsim.exploration.races.cures.trying import Cures, RaceCures, RaceQuery, try_cures

__all__ = [
    "CURE_KINDS",
    "OUTCOMES",
    "CureKind",
    "Cures",
    "Outcome",
    "RaceCures",
    "RaceQuery",
    "Tried",
    "try_cures",
]
