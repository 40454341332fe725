"""Generate code from templates: Rebeca from configurations, Python from checked models.

`python_source` writes a checked model as a module of Rebec classes, `build_model` makes a model
that can be run from it, `template_environment` is where all templates are rendered.
"""

from rebecsim.generate.module import build_model, python_source
from rebecsim.generate.templates import template_environment

__all__ = ["build_model", "python_source", "template_environment"]
