"""The language: reading, checking and printing Timed Rebeca and Core Rebeca models.

* `parse_model`, `parse_model_file`, `parse_expression`: from text to a syntax tree
* `check_model`, `check_source`, `check_file`: from a tree, text or file to a `CheckedModel`
* `CheckedModel`: what the names and expressions of a model mean, with the parts `CheckedClass`,
  `CheckedServer`, `CheckedInstance`, `Symbol`, `Dialect` and `Value`
* `parse_property`, `parse_property_file`, `check_property`: the same for property files, giving a
  `PropertyFile` and `CheckedProperties`
* `print_model`, `print_expression`: from a tree back to text
* `walk`: every node of a tree
* `RebecaError`: any mistake in a text, as `RebecaSyntaxError` or `RebecaCheckError`
* `Diagnostic`: one mistake with its place, source line and hint
* `syntax`, `types`: the nodes of the tree and the types of the language

They are loaded when they are asked for: checking a model needs neither the printer nor what there
is for property files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rebecsim.lazy_names import names_of

if TYPE_CHECKING:
    from rebecsim.lang import syntax, types
    from rebecsim.lang.checked import (
        CheckedClass,
        CheckedInstance,
        CheckedModel,
        CheckedServer,
        Dialect,
        Symbol,
        Value,
    )
    from rebecsim.lang.checker import check_file, check_model, check_source
    from rebecsim.lang.errors import Diagnostic, RebecaCheckError, RebecaError, RebecaSyntaxError
    from rebecsim.lang.parser import parse_expression, parse_model, parse_model_file
    from rebecsim.lang.printer import print_expression, print_model
    from rebecsim.lang.properties import (
        CheckedProperties,
        check_property,
        parse_property,
        parse_property_file,
    )
    from rebecsim.lang.property_syntax import PropertyFile
    from rebecsim.lang.traversal import walk

__all__ = [
    "CheckedClass",
    "CheckedInstance",
    "CheckedModel",
    "CheckedProperties",
    "CheckedServer",
    "Diagnostic",
    "Dialect",
    "PropertyFile",
    "RebecaCheckError",
    "RebecaError",
    "RebecaSyntaxError",
    "Symbol",
    "Value",
    "check_file",
    "check_model",
    "check_property",
    "check_source",
    "parse_expression",
    "parse_model",
    "parse_model_file",
    "parse_property",
    "parse_property_file",
    "print_expression",
    "print_model",
    "syntax",
    "types",
    "walk",
]

_MODULES = {
    "syntax": "",
    "types": "",
    "CheckedClass": "checked",
    "CheckedInstance": "checked",
    "CheckedModel": "checked",
    "CheckedProperties": "properties",
    "CheckedServer": "checked",
    "Diagnostic": "errors",
    "Dialect": "checked",
    "PropertyFile": "property_syntax",
    "RebecaCheckError": "errors",
    "RebecaError": "errors",
    "RebecaSyntaxError": "errors",
    "Symbol": "checked",
    "Value": "checked",
    "check_file": "checker",
    "check_model": "checker",
    "check_property": "properties",
    "check_source": "checker",
    "parse_expression": "parser",
    "parse_model": "parser",
    "parse_model_file": "parser",
    "parse_property": "properties",
    "parse_property_file": "properties",
    "print_expression": "printer",
    "print_model": "printer",
    "walk": "traversal",
}

__getattr__, __dir__ = names_of(__name__, _MODULES)
