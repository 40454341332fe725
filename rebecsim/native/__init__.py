"""Compiled code: the loops that simulate and explore.

`Engine` names the engines, `usable` says which one runs. `native_model` lays out a model as a
`NativeModel`; what has no place there is a `TimeTooLargeError`. `compiled` makes functions of
`Integers`, `Table` and `Flags` that `prepare` compiles, unless `is_ready` says that they are;
`is_plain` says that nothing is compiled.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
