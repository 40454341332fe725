"""Generate code from templates: Rebeca from configurations, Python from checked models.

`python_source` writes a checked model as a module of Rebec classes, `build_model` makes a model
that can be run from it, `load_model` and `load_checked` read one from a file, or raise `LoadError`.
`step_source` writes a step that Numba compiles, or raises `NotNativeError`. `template_environment`
is where all templates are rendered; `add_templates` and `remove_templates` are for plug-ins.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
