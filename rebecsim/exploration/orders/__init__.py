"""Exact values of a model over the orders of its messages: least, greatest and expected.

A timed model up to a horizon is a Markov decision process. A state is one of floating time, with
the time. In it, a scheduler picks one of the messages that may be served, knowing the whole past;
the choices of its message server are then drawn by the choice law. A run ends behind the horizon,
where no message is left, or at a breach. The results are the least and the largest expected value
of a quantity over all schedulers, and its value under the random scheduler of
`rebecsim.actors.RandomScheduler`, which draws a rebec, and then one of its messages.

M. L. Puterman, "Markov Decision Processes" (1994), chapter 4: values of a finite horizon, backward.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
