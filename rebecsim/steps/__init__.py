"""Read what the message servers of Python classes do, from their source.

`steps_of` gives the checked tree of a model whose classes were written in Python: the one typed
form that engines, reductions, races and exact answers work on, whether a model was written in
Rebeca or in Python. What does not fit raises `NotUnderstoodError`, which names file, line and
reason; such a model runs in the plain engine. `understood` gives
that reason as a text.

Of other Python, `may_name` says which attributes it may use, `wait_of` what a function that waits
depends on, and `impurities` are code by which a class is no function of state and message
(`NotRepeatableError`).
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
