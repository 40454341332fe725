"""Words from Java, C and Python that Rebeca does not have, and what to write instead.

The keys are looked up only where a model is wrong already, so that every one of them may be the
name of something in a model that is right.
"""

from __future__ import annotations

_PRINT = "a rebec does not print; `rebecsim simulate` shows every message and what it changes"
_CHOICE = "chance is a choice of constants in a message server, as in `x = ?(1, 2, 6);`"
_DELAY = "`delay(3);` makes the rebec busy for 3 time units"
_NO_TEXT = "there are no texts; use numbers, and env constants as names for them"
_VISIBILITY = "remove it: variables belong to their rebec, and every message server can be sent to"
_CONSTANT = "write a constant before the classes, as in `env int LIMIT = 3;`"
_ONE_FILE = "remove it: a model is one file, which holds all its classes"
_EXCEPTION = "there are no exceptions; `assertion(condition);` says what must hold"

TYPE_HINTS = {
    "bool": "write `boolean`",
    "Boolean": "write `boolean`",
    "Integer": "write `int`",
    "integer": "write `int`",
    "long": "write `int`, which has 32 bits",
    "Long": "write `int`, which has 32 bits",
    "unsigned": "write `int`",
    "String": _NO_TEXT,
    "string": _NO_TEXT,
    "void": "a variable needs a type with values, such as `int`",
    "var": "write the type, such as `int`",
}
"""Types of other languages. One that Rebeca has a word for is named there."""

NAME_HINTS = {
    "True": "write `true`",
    "TRUE": "write `true`",
    "False": "write `false`",
    "FALSE": "write `false`",
    "None": "write `null`",
    "NULL": "write `null`",
    "nil": "write `null`",
    "nullptr": "write `null`",
    "this": "write `self`",
    "System": _PRINT,
    "console": _PRINT,
    "Math": _CHOICE,
    "Random": _CHOICE,
    "Thread": _DELAY,
    "time": "the time is `now`",
}
METHOD_HINTS = {
    "print": _PRINT,
    "println": _PRINT,
    "printf": _PRINT,
    "random": _CHOICE,
    "rand": _CHOICE,
    "nextInt": _CHOICE,
    "randint": _CHOICE,
    "sleep": _DELAY,
    "wait": _DELAY,
    "assert": "write `assertion(condition);`",
}

FOREIGN_WORDS = {
    "private": _VISIBILITY,
    "public": _VISIBILITY,
    "protected": _VISIBILITY,
    "static": "remove it: every rebec has variables of its own; a shared constant is an env",
    "final": _CONSTANT,
    "const": _CONSTANT,
    "#define": _CONSTANT,
    "import": _ONE_FILE,
    "package": _ONE_FILE,
    "include": _ONE_FILE,
    "class": "a class begins with `reactiveclass Name(10) {`, 10 being the length of its queue",
    "enum": _CONSTANT,
    "new": "all rebecs are made in main, as in `Class name(known rebecs):(arguments);`",
    "String": _NO_TEXT,
    "System": _PRINT,
    "print": _PRINT,
    "println": _PRINT,
    "printf": _PRINT,
    "elif": "write `else if`",
    "elsif": "write `else if`",
    "elseif": "write `else if`",
    "foreach": "count, as in `for (int i = 0; i < 3; i++) { ... v[i] ... }`",
    "unsigned": "write `int`",
    "let": "write the type, such as `int`",
    "auto": "write the type, such as `int`",
    "do": "write `while (condition) { ... }`",
    "and": "write `&&`",
    "or": "write `||`",
    "not": "write `!`",
    "assert": "write `assertion(condition);`",
    "try": _EXCEPTION,
    "throw": _EXCEPTION,
    "throws": _EXCEPTION,
    "catch": _EXCEPTION,
    "def": "a message server is `msgsrv name(int x) { ... }`",
    "function": "a method is `int name(int x) { ... }`",
    "synchronized": "remove it: a rebec serves one message at a time",
    "volatile": "remove it: a rebec serves one message at a time",
}
"""Words that make a text unreadable."""
