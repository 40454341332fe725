"""Races: pairs of steps whose order matters, and what each order leads to.

**A race.** A *step* serves one waiting message, or goes on with a message server after a delay.
Take a state in which two different steps, of the same rebec or of different ones, can be taken, and
try both orders: the first step and then, at once, the second one. If the first makes the second
impossible for now (it is not its turn any more, it is served later, or something has gone wrong),
the order ends there. With choices, an order has several outcomes. The two orders *commute* if no
time passes between the steps, the same states are reached, and the same breaches are met on the
way. If they do not commute, the two steps are in a race. That is all that an order can do: of runs
that differ only by commuting swaps, none can come to anything that the others cannot.

What is meant by a *breach*: a failed assertion, a missed deadline or an overflow, told apart by
rebec and message server; a property that does not hold, a deadlock if that is asked for. States in
which nothing can happen any more are the same if all variables are, however long rebecs would stay
busy.

**What must come.** After an order a breach is *possible* if some run leads to it, and *inevitable*
if every run does. Runs are fair: a rebec that can always act does. A run ends at a breach.

**Doing the same after both orders.** To see whether the orders come together again, both are
followed, as `rebecsim.exploration.races.following` says: what can be done in both is done in both,
with the same choices; what only one can do is done there, and the other one does it as soon as it
can. So what differs comes from the two orders and not from other choices or later races. They have
*joined* when both are in the same state at the same time. As what is done is otherwise free, there
are many ways to follow; all of them are looked at.

**What comes of a race**, the worst that applies:

* inevitable: after one order a breach is inevitable and after the other one it is not
* avoidable: otherwise, after one order a breach is possible and after the other one not, or one of
  the orders meets a breach before they have joined and the other one, doing the same, does not
* observed: otherwise, with `observe`, the values or messages shown are not the same ones in the
  same order
* results: otherwise, they need not join: there is a fair way to follow that never does
* while: otherwise, they join, but until then services differ in their arguments or their times
* joins: otherwise; nothing differs but the order of the two steps, and variables for a while
* undecided: limits kept from knowing

A race is *harmful* if it is one of the first two. If it is one of the next two, its *order matters*
and breaks no property; whether that is right, only its author knows.

**The guard.** A breach that can come and that no race decides is named by itself. So is one that
comes whatever is done, unless a race was seen to have it come sooner: races are not followed for
such breaches. Of all others there is a last step at which it became inevitable; that step is shown
beside one that would have avoided it: another choice, or another message.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
