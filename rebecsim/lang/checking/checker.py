"""Check a syntax tree: names, types and the rules of the dialect."""

from __future__ import annotations

from pathlib import Path

from rebecsim.lang import syntax
from rebecsim.lang.checked import CheckedModel, Dialect
from rebecsim.lang.checking.bodies import (
    check_bodies,
    number_choice_sites,
    used_results,
)
from rebecsim.lang.checking.declarations import declare_classes, declare_env
from rebecsim.lang.checking.main_block import check_main
from rebecsim.lang.checking.own_sends import with_own_sends
from rebecsim.lang.checking.scopes import Findings
from rebecsim.lang.dialects import declared_dialect
from rebecsim.lang.errors import Diagnostic, RebecaCheckError, RebecaError, in_order
from rebecsim.lang.reading.parser import parse_model, read_source


def check_model(
    tree: syntax.Model, dialect: Dialect = "timed", source: str | None = None
) -> CheckedModel:
    """Check a model and say what its names and expressions mean.

    `source` is the text the tree was read from; errors quote its lines. Raises RebecaCheckError
    with all mistakes of the model, in the order of the text.
    """
    findings = Findings(dialect)
    tree = with_own_sends(tree)
    findings.used_results = used_results(tree)
    env = declare_env(findings, tree)
    declare_classes(findings, tree, env)
    for checked in findings.classes.values():
        check_bodies(findings, checked, env)
    instances = check_main(findings, tree, env)
    if findings.diagnostics:
        raise RebecaCheckError.of(in_order(findings.diagnostics, source))
    number_choice_sites(findings)
    servers = [server for checked in findings.classes.values() for server in checked.servers]
    return CheckedModel(
        tree,
        dialect,
        dict(env.symbols),
        findings.classes,
        findings.interfaces,
        instances,
        any(server.global_priority is not None for server in servers),
        source,
        findings.types,
        findings.symbols,
        findings.constants,
        findings.choice_sites,
        findings.declared_types,
        findings.super_constructors,
        frozenset(findings.open_ends),
        frozenset(findings.functions),
        tuple(in_order(findings.warnings, source)),
    )


def check_source(text: str, file: str = "<string>", dialect: Dialect = "timed") -> CheckedModel:
    """Parse and check a text; raises RebecaSyntaxError or RebecaCheckError.

    A text that says `// rebeca: core` in its first comments is Core Rebeca, whatever is asked for.
    """
    return check_model(parse_model(text, file), declared_dialect(text) or dialect, text)


def problems_of(text: str, file: str = "<string>") -> tuple[Diagnostic, ...]:
    """Give what is wrong with a text, or the warnings of one that can be run."""
    try:
        return check_source(text, file).warnings
    except RebecaError as error:
        return error.diagnostics


def check_file(path: str | Path, dialect: Dialect = "timed") -> CheckedModel:
    """Parse and check a `.rebeca` file; raises OSError if it cannot be read."""
    return check_source(read_source(path), str(path), dialect)
