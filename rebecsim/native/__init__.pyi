from .arrays import (
    Flags as Flags,
    Integers as Integers,
    Table as Table,
    layout_for as layout_for,
    packed as packed,
    words_of as words_of,
)
from .cache import (
    compiled as compiled,
    is_plain as is_plain,
    is_ready as is_ready,
    prepare as prepare,
)
from .engines import (
    FINGERPRINT_BITS as FINGERPRINT_BITS,
    Engine as Engine,
    EngineUsed as EngineUsed,
    TimeTooLargeError as TimeTooLargeError,
    usable as usable,
)
from .layout import NativeModel as NativeModel, native_model as native_model
