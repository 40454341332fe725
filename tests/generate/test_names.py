"""Names in a model never matter: whatever they are, it is the same model."""

from __future__ import annotations

import builtins
import dis
import inspect
import keyword
import re
from collections.abc import Iterator
from functools import cache
from types import CodeType
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import assume, example, given, settings, strategies as st

from rebecsim import actors
from rebecsim.actors import Model
from rebecsim.exploration import explore
from rebecsim.exploration.analysis import footprints
from rebecsim.exploration.analysis.footprints import reads_absolute_time
from rebecsim.generate import (
    build_model,
    code,
    expressions,
    python_source,
    statements,
    step,
    step_expressions,
    step_source,
)
from rebecsim.generate.code import ModelNames
from rebecsim.lang import CheckedModel, RebecaError, check_source
from rebecsim.native import cache as native_cache, codes, operations
from rebecsim.steps import reached
from tests.examples import dear

MODEL = """
env int {constant} = 1;
reactiveclass {base}(4) {{
    statevars {{ int {variable}; }}
    int {method}(int {local}) {{ return {local} + {variable} + {constant}; }}
}}
reactiveclass {owner} extends {base}(4) {{
    knownrebecs {{ {owner} {known}; }}
    statevars {{ int[2] {array}; float {real}; }}
    {owner}(int {parameter}) {{ {variable} = {parameter}; self.{server}({parameter}); }}
    msgsrv {server}(int {parameter}) {{
        int {local} = {method}({parameter}) % 3;
        {variable} = {local};
        {real} = {local} / 2.0;
        {array}[{local} & 1] = {parameter};
        {array}[({variable} += 0) & 1] += ({local} = {local});
        for (int {other} = 0; {other} < 2; {other}++) {{ {array}[{other}] %= 4; }}
        if ({known} != self) {{ {known}.{server}({local}) after(1); }}
        assertion({array}[0] < 4 && (({owner}) {known}) == {known}, "{owner} {server} {array}");
    }}
}}
main {{ {owner} {first}({second}):(1); {owner} {second}({first}):(2); }}
"""
SLOTS = tuple(dict.fromkeys(re.findall(r"{(\w+)}", MODEL)))
VARIABLES = ("constant", "variable", "array", "real", "known", "local", "other", "parameter")
PLAIN = {slot: f"plain_{slot}" for slot in SLOTS}


def _checked(given_names: dict[str, str]) -> CheckedModel:
    return check_source(MODEL.format(**{**PLAIN, **given_names}), "model.rebeca")


def _words_of(*texts: object) -> set[str]:
    return {
        word
        for text in texts
        for word in re.findall(
            r"[A-Za-z_]\w*", text if isinstance(text, str) else inspect.getsource(text)
        )
    }


POOL = sorted(
    {
        *keyword.kwlist,
        *keyword.softkwlist,
        *dir(builtins),
        *dir(actors),
        *dir(actors.Rebec),
        *dir(operations),
        *dir(codes),
        *dir(native_cache),
        *dir(np),
        *dir(numba),
        *dir(object),
        *dir(type),
        *_words_of(code, expressions, statements, step, step_expressions, footprints),
        *_words_of(python_source(_checked({})), step_source(_checked({})).text),
        *(f"{name}_" for name in code.HELPERS),
    }
)


def _codes(module: CodeType) -> list[CodeType]:
    inner = [each for each in module.co_consts if isinstance(each, CodeType)]
    return [module, *(below for each in inner for below in _codes(each))]


def _assert_no_function_hides_what_it_uses(text: str) -> None:
    """No local has the name of something that the text imports, defines or calls."""
    module = compile(text, "generated", "exec")
    outside = {
        each.argval
        for part in _codes(module)
        for each in dis.get_instructions(part)
        if each.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    }
    used = outside & ({*dir(builtins), *code.HELPERS, *dir(operations), *dir(codes), "np"})
    for each in _codes(module)[1:]:
        locals_ = {*each.co_varnames, *each.co_cellvars}
        assert not locals_ & used, (each.co_name, locals_ & used)


def _hides(given_names: dict[str, str]) -> bool:
    """Whether one variable of the model would hide another, which makes it another model."""
    chosen = [{**PLAIN, **given_names}[slot] for slot in VARIABLES]
    return len(set(chosen)) < len(chosen)


def _assert_same_model(given_names: dict[str, str]) -> None:
    try:
        checked = _checked(given_names)
    except RebecaError:
        return  # a word of the language, or two rebecs of one name
    _assert_no_function_hides_what_it_uses(python_source(checked))
    _assert_no_function_hides_what_it_uses(step_source(checked).text)
    model = build_model(checked)
    assert reads_absolute_time(model, None) is None
    assert _explored(model, checked) == _expected()


def _explored(model: Model, checked: CheckedModel) -> tuple[str, int, int]:
    found = explore(model, checked=checked, engine="python")
    return found.verdict, found.states, found.transitions


@cache
def _expected() -> tuple[str, int, int]:
    checked = _checked({})
    return _explored(build_model(checked), checked)


def test_the_model_of_these_tests_has_states() -> None:
    verdict, states, _ = _expected()
    assert verdict == "satisfied"
    assert states > 10


ELSEWHERE = (
    *("Int", "Float", "message_server", "Scheduler", "eval", "vars", "locals", "getattr"),
    *("None", "list", "model", "place", "cells", "np", "step", "numbers", "kept", "u_x"),
    *("__init__", "__class__", "_now", "current_message_arrival", "Timer", "_place"),
)


def places() -> Iterator[Any]:
    """Every name in every slot; at each commit, in every second one."""
    for one, name in enumerate(ELSEWHERE):
        for other, slot in enumerate(SLOTS):
            rest = [pytest.mark.slow] * ((one + other) % 2)
            yield pytest.param(name, slot, marks=rest)


@pytest.mark.parametrize(("name", "slot"), list(places()))
def test_a_name_that_means_something_elsewhere(name: str, slot: str) -> None:
    _assert_same_model({slot: name})


@settings(max_examples=dear(100))
@given(st.fixed_dictionaries({}, optional={slot: st.sampled_from(POOL) for slot in SLOTS}))
@example({"variable": "x", "server": "x", "method": "x_", "owner": "x", "first": "x"})
@example({"owner": "A_b", "base": "A", "server": "c", "method": "b_c"})
@example({"local": "place", "array": "store"})
@example({"server": "STREAMS", "parameter": "STREAMS"})
def test_names_never_matter(given_names: dict[str, str]) -> None:
    assume(not _hides(given_names))
    _assert_same_model(given_names)


def test_no_name_of_a_model_is_one_that_engines_look_for() -> None:
    watched = {*reached.BACK_DOORS, *footprints.IN_PYTHON.values()}
    for name in sorted(watched):
        for slot in ("variable", "server", "method", "owner", "constant", "known"):
            try:
                found = ModelNames(_checked({slot: name}))
            except RebecaError:
                continue
            tables = (found.classes, found.constants, found.callables, found.variables)
            assert not watched & {given for table in tables for given in table.values()}


def test_functions_of_different_classes_have_different_names() -> None:
    text = step_source(_checked({"owner": "A_b", "base": "A", "server": "c", "method": "b_c"})).text
    defined = re.findall(r"^def (\w+)", text, re.M)
    assert len(defined) == len(set(defined))
