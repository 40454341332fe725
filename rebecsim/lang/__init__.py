"""Read, check and print Timed Rebeca and Core Rebeca models.

* `read_source`, `parse_model`, `parse_expression`: from a file to its text, from text to a tree
* `check_model`, `check_source`, `check_file`: from a tree, text or file to a `CheckedModel`
* `CheckedModel`: what the names and expressions of a model mean, with the parts `CheckedClass`,
  `CheckedServer`, `CheckedInstance`, `Symbol`, `Dialect` and `Value`
* `parse_property`, `parse_property_file`, `check_property`: the same for property files, giving a
  `PropertyFile` and `CheckedProperties`
* `Formula` and its parts `Proposition`, `Negation`, `Connective`, `Temporal`, `Bound`;
  `check_condition` and `check_number` for single expressions from a user
* `needs_time`, `declared_dialect`: the dialect of a model
* `print_model`, `print_expression`: from a tree back to text
* `walk`: every node of a tree
* `RebecaError`: any mistake in a text, as `RebecaSyntaxError` or `RebecaCheckError`
* `Diagnostic`: one mistake with its place, source line and hint
* `MESSAGES`, `WARNINGS`: the texts of all mistakes; `RebecaLexer`: colours
* `syntax`, `types`: the nodes of the tree and the types of the language

They are loaded when they are asked for: checking a model needs neither the printer nor what there
is for property files.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
