from .blocks import loaded as loaded
from .classes import (
    steps_of as steps_of,
    understood as understood,
)
from .reached import may_name as may_name
from .repeatable import NotRepeatableError as NotRepeatableError, impurities as impurities
from .source import NotUnderstoodError as NotUnderstoodError
from .waiting import wait_of as wait_of
