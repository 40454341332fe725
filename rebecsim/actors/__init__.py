"""Rebecs in Python, and when they may act.

Writing a model: `Rebec`, `Interface`, `message_server`, `state_variable`, `known_rebec`, the kinds
`Int`, `Short`, `Byte`, `Boolean`, `Float`, `Double`, `Reference`, `Timer` (`Since`, `STOPPED`,
`durations`), their arithmetic (`int32`, `int16`, `int8`, `float32`, `float_quotient`,
`double_quotient`, `power`, `square_root`, `quotient`, `remainder`, `truncate`), the operations of
assertions, indices, casts, arguments and nested assignments (`require`, `element`, `refer`,
`copied`, `store`, `assign`), `Model`, `Instance` and `RebecNamed` for main; `StatePart`,
`Unordered` and `Constant`, what state is made of beside numbers.

Running it: `System`, `Step`, `ready`, `alternatives`, `steps`, `enabled`, `execute`,
`next_time`, and the `Agenda` that `agenda_for` makes for a scheduler; what can go wrong:
`Violation` and its kinds `AssertionFailedError`, `DeadlineMissedError`, `QueueOverflowError`,
`ModelError` for a model that does not fit together, and `ModelCodeError` for one whose own code
raises an exception.

Resolving nondeterminism: `RandomScheduler`, `RankedScheduler`, `FifoScheduler`,
`ReplayScheduler`, `Recorder`, `RandomValues`, `FirstValues`, `Streams`, `ChoiceLaw`; a run as a
record: `Run`, `Choice`, `ReplayError`. Streams are numbered by `choice_stream` and `ORDER_STREAM`,
and have the key that `key_of` makes of a seed.

Around a run: a `Watchdog` stops what does not end (`EndlessError`); `value_text`, `call_text`,
`drawn_text` and `change_texts` write values for people.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
