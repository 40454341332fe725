from .module import (
    LoadError as LoadError,
    build_model as build_model,
    load_checked as load_checked,
    load_model as load_model,
    python_model as python_model,
    python_source as python_source,
)
from .step import (
    NotNativeError as NotNativeError,
    StepSource as StepSource,
    step_source as step_source,
)
from .templates import (
    add_templates as add_templates,
    has_template as has_template,
    remove_templates as remove_templates,
    template_environment as template_environment,
    write_starter as write_starter,
)
