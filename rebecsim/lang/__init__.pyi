from . import syntax as syntax
from .checked import (
    CheckedClass as CheckedClass,
    CheckedInstance as CheckedInstance,
    CheckedModel as CheckedModel,
    CheckedServer as CheckedServer,
    Dialect as Dialect,
    Symbol as Symbol,
    Value as Value,
    declared_dialect as declared_dialect,
    needs_time as needs_time,
)
from .checking.checker import (
    check_file as check_file,
    check_model as check_model,
    check_source as check_source,
    problems_of as problems_of,
)
from .errors import (
    Diagnostic as Diagnostic,
    RebecaCheckError as RebecaCheckError,
    RebecaError as RebecaError,
    RebecaSyntaxError as RebecaSyntaxError,
    read_source as read_source,
)
from .formatting import format_source as format_source
from .highlighting import RebecaLexer as RebecaLexer
from .messages import MESSAGES as MESSAGES, WARNINGS as WARNINGS
from .printer import print_expression as print_expression, print_model as print_model
from .properties import (
    Bound as Bound,
    CheckedProperties as CheckedProperties,
    Connective as Connective,
    Formula as Formula,
    Negation as Negation,
    PropertyFile as PropertyFile,
    Proposition as Proposition,
    Temporal as Temporal,
    check_condition as check_condition,
    check_number as check_number,
    check_property as check_property,
    parse_property as parse_property,
    parse_property_file as parse_property_file,
)
from .reading.parser import (
    parse_expression as parse_expression,
    parse_model as parse_model,
)
from .traversal import walk as walk
