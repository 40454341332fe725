"""Every error message with the smallest bad input that causes it.

In the inputs `¶` marks where the error is; it is taken out before reading. Inputs of a body or a
class are put into a small model around them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import rebecsim.lang
from rebecsim.lang import MESSAGES, WARNINGS, RebecaError, check_file
from tests.lang.bad_inputs import (
    MAIN,
    MARK,
    A,
    body,
    core,
    core_property,
    errors_of,
    inherited,
    main,
    member,
    model,
    place_of,
    timed_property,
)

Case = tuple[str, Callable[[str], None], str]

TABLE: list[Case] = [
    # --- reading
    ("unknown-character", model, "¶$"),
    ("unterminated-text", body, 'assertion(b, ¶"no'),
    ("unterminated-comment", model, "¶/* no"),
    ("unterminated-comment", body, "x = 1 ¶/* no"),
    ("escape", body, r'assertion(b, ¶"\q");'),
    ("int-range", body, "x = ¶2147483648;"),
    ("int-range", body, "x = ¶99999999999;"),
    ("int-range", body, "x = ¶0x100000000;"),
    ("int-range", body, "x = ¶0b100000000000000000000000000000000;"),
    ("int-range", body, "x = ¶040000000000;"),
    ("int-range", body, "x = ¶2_147_483_648L;"),
    ("float-range", body, "r = ¶1e39f;"),
    ("double-range", body, "r = ¶1e309;"),
    ("octal", body, "x = ¶08;"),
    ("escape", body, r"x = ¶'\q';"),
    ("too-deep", body, "b = " + "!" * 36 + MARK + "!b;"),
    ("too-deep", body, "x = " + "v[" * 35 + MARK + "v[0]" + "]" * 35 + ";"),
    ("blocks-too-deep", body, "{" * 40 + MARK + "{" + "}" * 41),
    ("loops-too-deep", body, "while (b) " * 15 + MARK + "while (b) ;"),
    ("array-dimensions", body, "¶int" + "[1]" * 9 + " y;"),
    ("array-elements", member, "statevars { ¶int[2147483647] y; }"),
    ("array-elements", member, "statevars { ¶int[101][100][100] y; }"),
    # --- syntax
    ("unexpected", model, "¶5"),
    ("unexpected", body, "x = ¶;"),
    ("unexpected", body, "x = 1 ¶2;"),
    ("unexpected", main, "B b():¶;"),
    ("unexpected", model, "reactiveclass ¶{ }"),
    ("unexpected", body, "assertion(b, ¶b);"),
    ("empty-model", model, "¶"),
    ("empty-model", model, "// nothing¶"),
    ("main-missing", model, "reactiveclass A(1) { }¶"),
    ("brace-missing", model, "reactiveclass A(1) {¶"),
    ("brace-missing", model, "reactiveclass A(1) { msgsrv m() { ¶msgsrv go() { } } main { }"),
    ("brace-missing", model, "reactiveclass A(1) { ¶main { A a():(); }"),
    ("parenthesis-missing", body, "m(1¶;"),
    ("parenthesis-missing", body, "if (b ¶{ }"),
    ("parenthesis-missing", body, "m(1 ¶}"),
    ("semicolon-missing", body, "x = 1¶\nx = 2;"),
    ("semicolon-missing", body, "x = 1¶ }"),
    ("semicolon-missing", member, "statevars { int x¶ }"),
    ("semicolon-missing", main, "B b():()¶"),
    ("queue-size-missing", model, "reactiveclass A(¶) { }"),
    ("arguments-missing", main, "B b()¶;"),
    ("arguments-missing", main, "B b¶;"),
    ("arguments-missing", main, "B b¶ = null;"),
    ("array-after-name", member, "statevars { int x¶[3]; }"),
    ("array-after-name", body, "int y¶[3];"),
    ("reserved-word", member, "statevars { int ¶while; }"),
    ("reserved-word", member, "msgsrv ¶delay() { }"),
    ("text-misplaced", body, 'x = ¶"no";'),
    ("timing-misplaced", body, "x = 1 ¶after(2);"),
    ("timing-twice", body, "self.m(1) after(1) ¶after(2);"),
    ("assignment-left", body, "if (x + 1 ¶= 2) { }"),
    ("operator-missing", body, "x = (x + 1) ¶x;"),
    ("foreign-word", body, "x = ¶new A();"),
    ("main-form", model, "reactiveclass A(1) { } main¶() { A a():(); }"),
    ("main-form", member, "void ¶main() { }"),
    ("server-result", member, "msgsrv ¶void m() { }"),
    ("server-result", member, "msgsrv ¶int m() { }"),
    ("base-missing", model, "reactiveclass A extends ¶(1) { }"),
    ("base-late", model, "reactiveclass A(1) ¶extends B { }"),
    ("variable-place", member, "¶int x;"),
    ("variable-place", member, "¶int x = 1;"),
    ("parameter-type", member, "msgsrv m(¶x) { }"),
    ("for-each", body, "for (int i ¶: v) { }"),
    ("body-missing", member, "¶msgsrv m();"),
    ("abstract-with-body", member, "¶abstract msgsrv m() { }"),
    # --- declarations
    ("duplicate", model, "env int N = 1; ¶env int N = 2; reactiveclass A(1) { } " + MAIN),
    ("duplicate", model, f"reactiveclass A(1) {{ }} ¶reactiveclass A(1) {{ }} {MAIN}"),
    ("duplicate", member, "statevars { int x; int ¶x; }"),
    ("duplicate", member, "env int c = 1; ¶env int c = 2;"),
    ("duplicate", member, "env int c = 1; statevars { int ¶c; }"),
    ("duplicate", member, "env int c = 1; msgsrv m(¶int c) { }"),
    ("duplicate", member, "env int c = 1; msgsrv m() { ¶int c; }"),
    ("constant-type", member, "env ¶int[2] c = {1, 2};"),
    ("constant-type", member, "env ¶E c = 1;"),
    ("not-assignable", member, "env int c = 1; msgsrv s() { ¶c = 2; }"),
    ("not-assignable", member, "env distribution c = uniform(1, 2); int f() { ¶c++; return 1; }"),
    ("constant-place", member, "env int c = 1; statevars { int x = ¶c; }"),
    ("mismatch", member, "env int c = ¶true;"),
    ("unknown-name", member, "env int c = ¶d;"),
    (
        "constant-differs",
        model,
        "reactiveclass B(1) { env int c = 1; } "
        f"reactiveclass C extends B(1) {{ env ¶byte c = 1; }} {A}",
    ),
    ("import-path", model, f'import ¶"/etc/a.rebeca"; {A}'),
    ("import-path", model, f'import ¶"a.txt"; {A}'),
    ("import-unknown", model, f'import ¶"a.rebeca"; {A}'),
    ("import-unknown", model, f'import ¶"lib/../a.rebeca"; {A}'),
    ("import-place", model, f'{A} ¶import "a.rebeca";'),
    ("import-place", model, f'env int N = 1; ¶import "a.rebeca"; {A}'),
    ("foreign-word", model, f"¶import java.util; {A}"),
    ("duplicate", member, "statevars { int x, ¶x; }"),
    ("duplicate", member, "msgsrv m() { } ¶msgsrv m(int x) { }"),
    ("duplicate", member, "int m() { return 1; } ¶msgsrv m() { }"),
    ("duplicate", member, "msgsrv m(int x, ¶int x) { }"),
    ("duplicate", body, "int y; { ¶int y; }"),
    ("duplicate", body, "¶int other;"),
    ("duplicate", main, "B b():(); ¶B b():();"),
    ("duplicate", main, "¶B N():();"),
    (
        "duplicate",
        inherited,
        "reactiveclass A extends S(1) { A() { } msgsrv go(int x) { } ¶msgsrv f() { } }",
    ),
    (
        "duplicate",
        inherited,
        "abstract reactiveclass B extends S(1) { ¶void go() { } } reactiveclass A(1) { }",
    ),
    ("builtin-name", member, "statevars { int ¶now; }"),
    ("builtin-name", member, "¶msgsrv self() { }"),
    ("builtin-name", body, "¶int sender;"),
    ("builtin-name", main, "¶B self():();"),
    ("unknown-type", member, "statevars { ¶Foo x; }"),
    ("unknown-type", body, "¶Foo y;"),
    ("unknown-type", body, "x = (int) ((¶Foo) other);"),
    ("unknown-class", model, f"¶reactiveclass A extends B(1) {{ }} {MAIN}"),
    ("unknown-class", main, "¶C c():();"),
    ("env-type", model, f"reactiveclass A(1) {{ }} env ¶A N = null; {MAIN}"),
    ("array-whole", model, f"env int[2] N = ¶1; reactiveclass A(1) {{ }} {MAIN}"),
    ("constant-value", model, f"env int N = ¶1 / 0; reactiveclass A(1) {{ }} {MAIN}"),
    ("constant-value", member, "statevars { int[2] v = {1, ¶1 / 0}; }"),
    ("constant-only", member, "statevars { int x = ¶f(); } int f() { return 1; }"),
    ("unknown-name", member, "statevars { int x; int y = ¶x; }"),
    (
        "known-initial",
        model,
        "reactiveclass A(1) { knownrebecs { A ¶b = null; } } main { A a(a):(); }",
    ),
    ("timer-place", body, "¶Timer t;"),
    ("timer-place", member, "msgsrv m(¶Timer t) { }"),
    ("core-time", core, f"reactiveclass A(1) {{ statevars {{ ¶Timer t; }} }} {MAIN}"),
    ("core-time", core, f"reactiveclass A(1) {{ msgsrv m() {{ ¶startTimer(1); }} }} {MAIN}"),
    ("timer-value", member, "statevars { Timer t; int x; } msgsrv m() { x = ¶t; }"),
    ("timer-value", member, "statevars { Timer t; Timer u; } msgsrv m() { ¶t = 3; }"),
    ("timer-value", member, "statevars { Timer t; } msgsrv m() { if (¶t == 3) { } }"),
    ("timer-expected", body, "startTimer(¶x);"),
    ("argument-count", body, "r = ¶pow(2);"),
    ("argument-count", body, "x = ¶getTimerValue();"),
    ("initializer-array", body, "int y = ¶{1};"),
    ("initializer-array", member, "statevars { int[1] v = {¶{1}}; }"),
    ("initializer-length", body, "int[2] w = ¶{1};"),
    ("initializer-length", model, f"env int[2] N = ¶{{1, 2, 3}}; reactiveclass A(1) {{ }} {MAIN}"),
    ("mismatch", body, "int[2] w = {1, ¶true};"),
    ("array-length", member, "statevars { int[¶0] x; }"),
    ("array-length", body, "int[¶true] y;"),
    ("array-here", member, "A() { } A(¶int[2] x) { }"),
    ("array-length", member, "msgsrv m(int[¶0] x) { }"),
    ("mismatch", member, "statevars { int[3] w; } int f(int[2] a) { return f(¶w); }"),
    ("mismatch", member, "int f(int[2] a) { byte[2] b; return f(¶b); }"),
    ("mismatch", member, "int f(int[2] a) { return f(¶a[0]); }"),
    ("array-whole", member, "int f(int a) { int[2] b; return f(¶b); }"),
    (
        "override-differs",
        model,
        "abstract reactiveclass S(1) { abstract msgsrv m(int[2] x); } reactiveclass A extends S(1) "
        "{ ¶msgsrv m(int[3] x) { } } main { A a():(); }",
    ),
    ("known-type", member, "knownrebecs { ¶int x; }"),
    ("queue-size", model, f"reactiveclass A(¶0) {{ }} {MAIN}"),
    ("queue-size", model, f"reactiveclass A(¶true) {{ }} {MAIN}"),
    ("inheritance-cycle", model, f"¶reactiveclass A extends A(1) {{ }} {MAIN}"),
    (
        "inheritance-cycle",
        model,
        f"¶reactiveclass A extends B(1) {{ }} reactiveclass B extends A(1) {{ }} {MAIN}",
    ),
    ("abstract-server", member, "¶abstract msgsrv m();"),
    ("duplicate", model, f"¶interface A {{ }} reactiveclass A(1) {{ }} {MAIN}"),
    ("duplicate", model, f"interface I {{ msgsrv m(); ¶msgsrv m(); }} {A}"),
    ("inheritance-cycle", model, f"¶interface I extends I {{ }} {A}"),
    ("inheritance-cycle", model, f"¶interface I extends J {{ }} interface J extends I {{ }} {A}"),
    ("unknown-interface", model, f"¶reactiveclass A implements I(1) {{ }} {MAIN}"),
    ("unknown-interface", model, f"¶interface I extends J {{ }} {A}"),
    ("implements-class", model, f"¶reactiveclass B implements A(1) {{ }} {A}"),
    ("implements-class", model, f"¶interface I extends A {{ }} {A}"),
    ("extends-interface", model, f"interface I {{ }} ¶reactiveclass A extends I(1) {{ }} {MAIN}"),
    (
        "interface-missing",
        model,
        "interface I { msgsrv m(int x); } interface J extends I { } "
        f"¶reactiveclass A implements J(1) {{ }} {MAIN}",
    ),
    (
        "override-differs",
        model,
        "interface I { msgsrv m(int x); } "
        f"reactiveclass A implements I(1) {{ ¶msgsrv m(byte x) {{ }} }} {MAIN}",
    ),
    (
        "override-differs",
        model,
        "interface I { msgsrv m(int x); } reactiveclass B(1) { msgsrv m() { } } "
        f"¶reactiveclass A extends B implements I(1) {{ }} {MAIN}",
    ),
    (
        "override-differs",
        model,
        "interface I { msgsrv m(int x); } interface J { msgsrv m(); } "
        f"¶interface K extends I, J {{ }} {A}",
    ),
    (
        "override-differs",
        model,
        f"interface I {{ msgsrv m(int x); }} interface J extends I {{ ¶msgsrv m(); }} {A}",
    ),
    ("initial-constructor", member, "¶A() { } msgsrv initial() { }"),
    (
        "initial-constructor",
        model,
        "reactiveclass B(1) { msgsrv initial() { } } "
        f"reactiveclass A extends B(1) {{ ¶A() {{ }} }} {MAIN}",
    ),
    (
        "initial-constructor",
        model,
        "reactiveclass B(1) { B() { } } "
        f"¶reactiveclass A extends B(1) {{ msgsrv initial() {{ }} }} {MAIN}",
    ),
    (
        "argument-count",
        model,
        "reactiveclass A(1) { msgsrv initial(int x) { } } main { ¶A a():(); }",
    ),
    (
        "mismatch",
        model,
        "reactiveclass A(1) { msgsrv initial(int x) { } } main { A a():(¶true); }",
    ),
    ("not-implemented", inherited, "¶reactiveclass A extends S(1) { A() { } }"),
    (
        "override-differs",
        inherited,
        "reactiveclass A extends S(1) { A() { } ¶msgsrv go() { } }",
    ),
    (
        "override-differs",
        inherited,
        "reactiveclass A extends S(1) { A() { } msgsrv go(int x) { } ¶void f() { } }",
    ),
    ("constructor-name", member, "¶B() { }"),
    ("constructor-twice", member, "A(int x) { } ¶A(int y) { } A() { }"),
    (
        "constructor-inherited",
        inherited,
        "¶reactiveclass A extends S(1) { msgsrv go(int x) { } }",
    ),
    ("annotation-unknown", member, "¶@urgent(1) msgsrv m() { }"),
    ("annotation-place", model, f"¶@globalPriority(1) reactiveclass A(1) {{ }} {MAIN}"),
    ("annotation-place", main, "¶@globalPriority(1) B b():();"),
    ("annotation-twice", member, "@priority(1) ¶@priority(2) msgsrv m() { }"),
    ("annotation-value", member, "¶@priority(true) msgsrv m() { }"),
    ("annotation-value", member, "¶@priority msgsrv m() { }"),
    ("core-priority", core, f"¶@priority(1) reactiveclass A(1) {{ }} {MAIN}"),
    ("core-time", core, f"reactiveclass A(1) {{ msgsrv m() {{ delay(¶1); }} }} {MAIN}"),
    (
        "core-time",
        core,
        f"reactiveclass A(1) {{ A() {{ self.m() after(¶1); }} msgsrv m() {{ }} }} {MAIN}",
    ),
    ("core-time", core, f"reactiveclass A(1) {{ int m() {{ return ¶now; }} }} {MAIN}"),
    # --- main
    ("no-instances", model, "¶main { }"),
    ("interface-instance", model, "interface I { } main { ¶I i():(); }"),
    ("abstract-instance", main, "¶S s():();"),
    ("binding-count", main, "B b():(); ¶A a():(1);"),
    ("binding-name", main, "A a(¶1):(1);"),
    ("binding-unknown", main, "A a(¶c):(1);"),
    ("binding-type", main, "A a(¶a):(1);"),
    ("no-constructor", main, "B b():(); ¶A a(b):();"),
    ("no-constructor", main, "¶B b():(1);"),
    ("constructor-ambiguous", main, "B b():(); ¶A a(b):(1, 2);"),
    ("argument-constant", main, "B b():(); A a(b):(¶1 / 0);"),
    # --- expressions
    ("constant-only", model, f"env int N = ¶f(); reactiveclass A(1) {{ }} {MAIN}"),
    ("unknown-name", body, "x = ¶y;"),
    ("unknown-name", member, "statevars { int x; int[¶x] y; }"),
    ("unknown-method", body, "¶g();"),
    ("unknown-server", body, "¶self.g();"),
    ("method-timed", body, "f() after(¶1);"),
    ("method-timed", body, "f() deadline(¶1);"),
    ("super-place", body, "¶super() after(1);"),
    ("method-sent", body, "¶other.f();"),
    ("method-timed", body, "self.f() after(¶1);"),
    ("argument-count", body, "¶self.m();"),
    ("argument-count", body, "x = ¶f(1);"),
    ("mismatch", body, "x = ¶true;"),
    ("mismatch", body, "self.m(¶b);"),
    ("mismatch", body, "int y = ¶null;"),
    ("mismatch", body, "other = ¶1;"),
    ("narrowing", body, "x = ¶r;"),
    ("narrowing", body, "x += ¶0.5;"),
    ("downcast", body, "other = ¶sender;"),
    ("instanceof-type", body, "b = other instanceof ¶int;"),
    ("operand", body, "b = ¶x instanceof A;"),
    ("unknown-type", body, "b = other instanceof ¶B;"),
    ("condition", body, "if (¶x) { }"),
    ("condition", body, "assertion(¶x);"),
    ("condition-assignment", body, "while (¶x = 1) { }"),
    ("operand", body, "b = ¶!x;"),
    ("operand", body, "x = ¶~r;"),
    ("operand", body, "x = ¶-b;"),
    ("operand", body, "¶b++;"),
    ("operands", body, "b = ¶b && x;"),
    ("operands", body, "b = ¶b < b;"),
    ("operands", body, "x = ¶x & b;"),
    ("operands", body, "r = ¶r % 2;"),
    ("operands", body, "x = ¶x + b;"),
    ("operands", body, "¶x <<= r;"),
    ("comparison", body, "b = ¶x == b;"),
    ("comparison", body, "b = ¶other == 1;"),
    ("alternatives", body, "x = ¶b ? 1 : true;"),
    ("alternatives", body, "x = ¶?(1, true);"),
    ("not-array", body, "x = ¶x[0];"),
    ("index-type", body, "x = v[¶b];"),
    ("not-assignable", body, "¶1 = x;"),
    ("not-assignable", body, "¶self = other;"),
    (
        "not-assignable",
        model,
        "reactiveclass A(1) { knownrebecs { A b; } msgsrv m() { ¶b = null; } } main { A a(a):(); }",
    ),
    ("not-assignable", body, "¶now++;"),
    ("array-whole", body, "x = ¶v;"),
    ("array-whole", body, "int[2] y = ¶1;"),
    ("no-value", body, "x = ¶self.m(1);"),
    ("cast", body, "x = ¶(int) b;"),
    ("member", body, "x = ¶other.x;"),
    ("unknown-own", body, "x = ¶self.y;"),
    ("unknown-own", body, "int y; ¶self.y = 1;"),
    ("mismatch", body, "self.x = ¶self.b;"),
    ("unknown-name", member, "statevars { int[¶self.x] y; int x; }"),
    ("property-expression", timed_property, "property { Assertion { P: ¶self.x > 0; } }"),
    ("own-member", body, "¶this.x = 1;"),
    ("array-member", body, "x = ¶v.length;"),
    ("choice-place", member, "statevars { int x; } A() { x = ¶?(1, 2); }"),
    ("choice-place", member, "int f() { return ¶?(1, 2); }"),
    ("choice-constant", body, "x = ?(1, ¶x);"),
    ("choice-mixed", body, "x = ¶?(0.5: 1, 2);"),
    ("distribution", body, "x = ?(¶exponential(-1));"),
    ("distribution", body, "delay(?(¶uniform(3)));"),
    ("distribution-constant", body, "x = ?(exponential(¶x));"),
    ("distribution-value", model, f"env distribution D = ¶3; {A}"),
    ("distribution", model, f"env distribution D = ¶uniform(3); {A}"),
    (
        "duplicate",
        model,
        f"env distribution D = uniform(1, 2); ¶env distribution D = uniform(1, 3); {A}",
    ),
    ("distribution-constant", model, f"env distribution D = exponential(¶true); {A}"),
    ("distribution-place", body, "delay(¶exponential(3));"),
    ("distribution-place", body, "x = ?(1, ¶exponential(3));"),
    ("weight", body, "x = ?(¶x: 1, 0.5: 2);"),
    ("weight", body, "x = ?(¶true: 1, 0.5: 2);"),
    ("weight", body, "x = ?(1: 1, ¶0: 2);"),
    ("weight", body, "pAlt { prob(¶-0.5): { } prob(1.5): { } }"),
    ("weights-sum", body, "x = ¶?(0.5: 1, 0.49: 2);"),
    ("weights-sum", body, "¶pAlt { prob(0.5): { } prob(0.6): { } }"),
    ("choice-place", member, "int f() { ¶pAlt { prob(1): { return 1; } } return 2; }"),
    ("receiver", body, "¶x.m(1);"),
    ("receiver", body, "(¶null).m(1);"),
    ("sender-class", body, "¶sender.m(1);"),
    (
        "constructor-send",
        model,
        "reactiveclass A(1) { knownrebecs { A b; } A() { ¶b.m(); } msgsrv m() { } } "
        "main { A a(a):(); }",
    ),
    ("constructor-sender", member, "A() { if (¶currentMessageArrival == 0) { } }"),
    ("time-type", body, "delay(¶r);"),
    ("time-type", body, "self.m(1) after(¶b);"),
    ("time-negative", body, "delay(¶-1);"),
    ("time-negative", body, "self.m(1) after(?(1, ¶-1));"),
    ("time-negative", body, "self.m(1) deadline(¶-1);"),
    # --- statements
    ("no-effect", body, "¶x + 1;"),
    ("no-effect", body, "for (¶x;;) { }"),
    ("return-value", body, "return ¶1;"),
    ("return-missing-value", member, "int f() { ¶return; }"),
    ("return-missing", member, "¶int f() { if (true) { return 1; } } int g() { return f(); }"),
    ("return-missing", member, "¶int f() { while (true) { break; } } int g() { return f(); }"),
    (
        "return-missing",
        member,
        "¶int f(int x) { switch (x) { case 1: return 1; } } int g() { return f(1); }",
    ),
    ("break-outside", body, "¶break;"),
    ("continue-outside", body, "switch (x) { case 1: ¶continue; }"),
    ("switch-type", body, "switch (¶b) { }"),
    ("case-constant", body, "switch (x) { case ¶true: }"),
    ("case-twice", body, "switch (x) { case 1: ¶case 1: }"),
    ("default-twice", body, "switch (x) { default: ¶default: }"),
    ("super-place", member, "A() { ¶super(); }"),
    (
        "super-place",
        inherited,
        "reactiveclass A extends S(1) { A() { ; ¶super(1); } msgsrv go(int x) { } }",
    ),
    (
        "no-constructor",
        inherited,
        "reactiveclass A extends S(1) { A() { ¶super(true); } msgsrv go(int x) { } }",
    ),
    # --- property files
    ("property-word", timed_property, "¶define { }"),
    ("property-section", timed_property, "property { ¶Invariant { } }"),
    ("property-separator", timed_property, "property { define { ¶d: true; } }"),
    ("property-tctl-core", core_property, "property { ¶TCTL { } }"),
    ("property-name", timed_property, "property { Assertion { P: ¶d; } }"),
    ("property-rebec", timed_property, "property { Assertion { P: ¶b.x > 0; } }"),
    ("property-variable", timed_property, "property { Assertion { P: ¶a.y > 0; } }"),
    ("property-expression", timed_property, "property { Assertion { P: ¶G(a.v[0]); } }"),
    ("property-temporal", core_property, "property { LTL { P: ¶AG(true); } }"),
    ("property-arguments", core_property, "property { LTL { P: ¶U(true); } }"),
    ("property-mixed", core_property, "property { LTL { P: ¶G(true) == true; } }"),
    ("property-limit", timed_property, "property { TCTL { P: AG(time <= ¶true, true); } }"),
    ("property-limit", timed_property, "property { TCTL { P: AF(time < ¶-1, true); } }"),
    ("property-bound", timed_property, "property { TCTL { P: AG(¶1 <= 2, true); } }"),
    ("duplicate", timed_property, "property { define { ¶a = true; } }"),
    ("duplicate", timed_property, "property { Assertion { P: true; ¶P: true; } }"),
    ("builtin-name", timed_property, "property { define { ¶time = true; } }"),
    ("condition", timed_property, "property { Assertion { P: ¶a.x; } }"),
    ("condition", core_property, "property { LTL { P: G(¶a.x); } }"),
]


@pytest.mark.parametrize(("code", "read", "text"), TABLE)
def test_the_smallest_bad_input_gives_its_message_at_its_place(
    code: str, read: Callable[[str], None], text: str
) -> None:
    diagnostics = errors_of(read, text)
    assert [item.code for item in diagnostics] == [code], diagnostics
    span = diagnostics[0].span
    assert (span.line, span.column) == place_of(read, text)
    shown = str(diagnostics[0])
    assert shown.startswith(f"{span.file}:{span.line}:{span.column}: error: ")
    assert "^" in shown.splitlines()[2]
    assert "{" not in re.sub(r"`[^`]*`", "", diagnostics[0].message)


def test_a_file_that_is_not_utf_8(tmp_path: Path) -> None:
    file = tmp_path / "latin.rebeca"
    file.write_bytes(b"// a\n// caf\xe9\n")
    with pytest.raises(RebecaError) as caught:
        check_file(file)
    assert caught.value.diagnostics[0].code == "not-utf-8"
    assert [(each.span.line, each.span.column) for each in caught.value.diagnostics] == [(2, 7)]


def test_every_message_is_in_the_table() -> None:
    elsewhere = {"not-utf-8", "import-main", "import-cycle"}
    assert {code for code, _, _ in TABLE} | elsewhere == set(MESSAGES) - set(WARNINGS)


def test_every_message_is_raised_and_only_by_its_code() -> None:
    package = Path(rebecsim.lang.__file__).parent
    sources = [
        path.read_text("utf-8") for path in package.rglob("*.py") if path.name != "messages.py"
    ]
    unused = [code for code in MESSAGES if not any(f'"{code}"' in text for text in sources)]
    assert unused == []
    outside_errors = [
        path.name
        for path in package.rglob("*.py")
        if path.name != "errors.py"
        and re.search(
            r"\bDiagnostic\(",
            path.read_text("utf-8"),
        )
    ]
    assert outside_errors == []
