from .blocks import loaded as loaded
from .classes import (
    steps_of as steps_of,
    understood as understood,
)
from .source import NotUnderstoodError as NotUnderstoodError
