"""Every error message of the language, by code.

tests/lang/test_error_table.py pairs each code with the smallest bad input that causes it and
fails when one is missing there. Placeholders in braces are filled by `errors.diagnose`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Template:
    """The text of a message and the hint below it."""

    text: str
    hint: str | None = None


READING = {
    "not-utf-8": Template(
        "byte {byte} is not UTF-8 text", "save the file in the encoding UTF-8 and try again"
    ),
    "unknown-character": Template("unknown character {character}", "remove it"),
    "unterminated-text": Template(
        "this text does not end on its line", 'put the closing `"` at the end of the text'
    ),
    "unterminated-comment": Template(
        "this comment does not end", "put `*/` at the end of the comment"
    ),
    "escape": Template(
        "unknown escape `\\{character}` in a text",
        "the escapes are `\\n`, `\\t`, `\\r`, `\\\"`, `\\'` and `\\\\`",
    ),
    "int-range": Template(
        "{text} is out of the range of int", "an int is between -2147483648 and 2147483647"
    ),
    "import-path": Template(
        "`{path}` cannot be imported",
        "write the path of a .rebeca file from the folder of this one, with `/`",
    ),
    "import-unknown": Template(
        "there is no file `{path}` to import",
        "a file is looked for from the folder of the one that imports it; a text that was not "
        "read from a file can import only `lib/...`",
    ),
    "import-cycle": Template("files import each other: {path}", "remove one of these imports"),
    "import-place": Template(
        "an import stands before all declarations", "move it to the top of the file"
    ),
    "import-main": Template(
        "a file that is imported has no `main`",
        "move its classes to a file of their own, and import that one",
    ),
    "float-range": Template(
        "{text} is out of the range of float",
        "a float is at most 3.4028235e38; a double has no `f`",
    ),
    "double-range": Template(
        "{text} is out of the range of double", "a double is at most 1.7976931348623157e308"
    ),
    "octal": Template(
        "{text} begins with 0, so it is octal, but has a digit above 7",
        "write it without the leading 0",
    ),
    "blocks-too-deep": Template(
        "statements are nested in more than {limit} levels", "move the inner ones to a method"
    ),
    "loops-too-deep": Template(
        "loops and switches are nested in more than {limit} levels",
        "move the inner ones to a method",
    ),
    "too-deep": Template(
        "this is nested too deeply", "compute it in several steps, or split it into smaller parts"
    ),
}

SYNTAX = {
    "unexpected": Template("unexpected {found}, expected {expected}"),
    "empty-model": Template(
        "the model is empty", "a model has reactive classes and a `main {{ ... }}` block"
    ),
    "main-missing": Template(
        "the model has no main",
        "end it with `main {{ Class name(known rebecs):(arguments); }}`, or check a model that "
        "imports this file",
    ),
    "brace-missing": Template(
        "missing `}}` before {found}: the `{{` of line {line} is not closed",
        "put `}}` where the block of line {line} ends",
    ),
    "parenthesis-missing": Template("missing `)` before {found}"),
    "semicolon-missing": Template("missing `;`", "put `;` here"),
    "queue-size-missing": Template(
        "the reactive class has no queue size",
        "write the length of the queue after the name: `reactiveclass {name}(10) {{`",
    ),
    "arguments-missing": Template(
        "the arguments of the constructor are missing",
        "an instance has two pairs of parentheses: `Class name(known rebecs):(arguments);`",
    ),
    "foreign-word": Template("`{word}` has no meaning here"),
    "main-form": Template(
        "main has neither a type nor parentheses",
        "after the classes, write `main {{ Class name(known rebecs):(arguments); }}`",
    ),
    "variable-place": Template(
        "the variables of a rebec are declared in statevars", "as in `statevars {{ int x; }}`"
    ),
    "parameter-type": Template("parameter `{name}` has no type", "as in `int {name}`"),
    "server-result": Template(
        "a message server has no result type",
        "write `msgsrv name(...)`, and send the result in a message",
    ),
    "base-missing": Template(
        "the name of a class is missing after `extends`", "as in `reactiveclass A extends B(10) {{`"
    ),
    "base-late": Template(
        "`extends` stands before the length of the queue",
        "as in `reactiveclass A extends B(10) {{`",
    ),
    "for-each": Template(
        "`for` cannot iterate over an array",
        "use an index, as in `for (int i = 0; i < 3; i++) {{ ... v[i] ... }}`",
    ),
    "choice-mixed": Template(
        "only some alternatives of this choice have a weight",
        "give all of them one, as in `?(0.25: 1, 0.75: 2)`, or none",
    ),
    "array-after-name": Template(
        "the length of an array stands after the type", "write `int[3] v;`, not `int v[3];`"
    ),
    "reserved-word": Template("`{word}` is a reserved word, not a name", "choose another name"),
    "text-misplaced": Template(
        "a text can only be used in an assertion", 'as in `assertion(x > 0, "x is positive");`'
    ),
    "timing-misplaced": Template(
        "`{word}` belongs to a send", "as in `receiver.server(arguments) {word}(3);`"
    ),
    "timing-twice": Template("`{word}` is given twice", "keep one of them"),
    "instanceof-type": Template(
        "`instanceof` asks for a reactive class or an interface, not {found}",
        "as in `sender instanceof Customer`",
    ),
    "assignment-left": Template(
        "`{operator}` cannot assign to the result of an operator", "`==` compares"
    ),
    "operator-missing": Template(
        "an operator is missing before this",
        "only a class name between parentheses, as in `(Customer) sender`, is a cast",
    ),
    "body-missing": Template("`{name}` has no body", "write `{{ ... }}`, or `abstract` before it"),
    "abstract-with-body": Template(
        "`{name}` is abstract and has a body", "remove `abstract`, or write `;` for the body"
    ),
}

DECLARATIONS = {
    "duplicate": Template("{what} `{name}` is already declared ({place})", "rename one of the two"),
    "builtin-name": Template(
        "`{name}` has a meaning in the language and cannot be declared", "choose another name"
    ),
    "unknown-type": Template(
        "there is no type `{name}`",
        "types are int, short, byte, boolean, float, double, the reactive classes and interfaces",
    ),
    "unknown-class": Template("there is no reactive class `{name}`"),
    "unknown-interface": Template("there is no interface `{name}`"),
    "implements-class": Template(
        "`{name}` is a reactive class, not an interface",
        "a class extends one class and implements interfaces: `extends {name}`",
    ),
    "extends-interface": Template(
        "`{name}` is an interface, not a reactive class",
        "a class implements interfaces: `implements {name}`",
    ),
    "interface-missing": Template(
        "`{owner}` has no message server `{server}`, which interface `{interface}` requires",
        "write it, or declare `abstract reactiveclass {owner}`",
    ),
    "env-type": Template(
        "an env constant cannot be of type {type}",
        "env constants are int, short, byte, boolean, float, double or arrays of these",
    ),
    "constant-value": Template(
        "the value of {what} must be constant", "use numbers, true, false and env constants"
    ),
    "timer-place": Template(
        "only state variables are timers", "declare `Timer t;` or `Timer[3] t;` in statevars"
    ),
    "known-initial": Template(
        "known rebec `{name}` cannot have an initial value", "main says which rebec it is"
    ),
    "initializer-array": Template(
        "`{{...}}` gives values to an array, not to {expected}", "write a single value"
    ),
    "initializer-length": Template(
        "{found} for an array of {expected}", "give a value for each element"
    ),
    "array-length": Template(
        "the length of an array must be a constant of at least 1", "use a number or an env constant"
    ),
    "array-dimensions": Template("an array has at most {limit} dimensions, not {found}"),
    "array-elements": Template(
        "an array has at most {limit} elements, not {found}",
        "every state has a copy of it; to raise the limit, set {variable}={found}",
    ),
    "array-here": Template(
        "{what} cannot be an array", "keep arrays in state variables or local variables"
    ),
    "known-type": Template(
        "known rebec `{name}` must be of a reactive class or interface, not {type}",
        "variables of other types belong in statevars",
    ),
    "queue-size": Template(
        "the queue size must be a constant int of at least 1",
        "the queue holds the message being executed too",
    ),
    "inheritance-cycle": Template("`{name}` extends itself ({path})"),
    "abstract-server": Template(
        "abstract `{name}` needs an abstract class", "write `abstract reactiveclass {owner}`"
    ),
    "not-implemented": Template(
        "`{owner}` does not implement abstract `{name}` of `{base}`",
        "implement it, or write `abstract reactiveclass {owner}`",
    ),
    "override-differs": Template(
        "`{name}` does not have the parameters and result that it has in `{base}`",
        "there they are {expected}; use another name for another meaning",
    ),
    "constructor-name": Template(
        "`{name}` is neither the constructor `{owner}` nor a method with a result type",
        "write the result type before it, `void {name}(...)`, or call it `{owner}`",
    ),
    "constructor-twice": Template(
        "`{owner}` has two constructors with the same parameter types", "remove one of them"
    ),
    "constructor-inherited": Template(
        "`{owner}` has no constructor, but its base class `{base}` has",
        "constructors are not inherited: write `{owner}(...) {{ super(...); }}`",
    ),
    "initial-constructor": Template(
        "`{owner}` has a message server `initial` and the constructor `{constructor}`",
        "keep one of them: `initial` is served like other messages, a constructor runs before all",
    ),
    "annotation-unknown": Template(
        "there is no annotation @{name}", "the annotations are @priority(n) and @globalPriority(n)"
    ),
    "annotation-place": Template(
        "@globalPriority has no effect on {what}", "it belongs to message servers"
    ),
    "annotation-twice": Template("@{name} is given twice", "keep one of them"),
    "annotation-value": Template("the value of @{name} must be a constant int"),
    "core-priority": Template(
        "Core Rebeca does not support priority",
        "remove @{name}, or check the model as Timed Rebeca",
    ),
    "core-time": Template(
        "Core Rebeca has no time, so it has no `{word}`",
        "remove it, or check the model as Timed Rebeca",
    ),
}

MAIN = {
    "no-instances": Template("main declares no rebec", "as in `Class name(known rebecs):();`"),
    "abstract-instance": Template(
        "`{name}` is an abstract class and has no instances", "use a class that extends it"
    ),
    "interface-instance": Template(
        "`{name}` is an interface and has no instances", "use a class that implements it"
    ),
    "binding-count": Template(
        "`{name}` needs {expected}, not {found}", "the known rebecs of `{owner}` are: {names}"
    ),
    "binding-name": Template(
        "a known rebec is bound to the name of an instance", "use a name that main declares"
    ),
    "binding-unknown": Template("main declares no rebec `{name}`"),
    "binding-type": Template(
        "known rebec `{known}` must be a {expected}, but `{name}` is a {found}"
    ),
    "no-constructor": Template(
        "no constructor of `{owner}` takes ({found})", "it is declared as {expected}"
    ),
    "constructor-ambiguous": Template(
        "several constructors of `{owner}` take ({found})", "use a cast to say which one is meant"
    ),
    "argument-constant": Template(
        "an argument in main must be a constant or the name of an instance",
        "use numbers, true, false, null, env constants and instances",
    ),
}

EXPRESSIONS = {
    "constant-only": Template(
        "{what} is not constant", "use numbers, true, false and env constants here"
    ),
    "unknown-name": Template("there is no variable `{name}` here"),
    "unknown-own": Template("`{owner}` has no variable `{name}`"),
    "unknown-method": Template("`{owner}` has no method or message server `{name}`"),
    "unknown-server": Template("`{owner}` has no message server `{name}`"),
    "method-timed": Template(
        "`{name}` is a method, which is called at once: it takes no `{word}`",
        "declare it as `msgsrv {name}(...)` to send it as a message",
    ),
    "method-sent": Template(
        "`{name}` is a method; it cannot be the name of a message",
        "declare it by `msgsrv {name}(...)` in `{owner}`, or call it as a method: `{name}(...)`",
    ),
    "argument-count": Template(
        "`{name}` takes {expected}, not {found}", "it is declared as `{signature}`"
    ),
    "mismatch": Template("expected {expected}, found {found}"),
    "narrowing": Template(
        "a {found} does not fit into {expected} without a cast",
        "write `({expected}) (...)`, which cuts off the fraction",
    ),
    "downcast": Template(
        "expected {expected}, found a {found}", "write `(({expected}) ...)` if it surely is one"
    ),
    "condition": Template(
        "a condition must be boolean, not {found}", "a comparison such as `... != 0` is boolean"
    ),
    "condition-assignment": Template(
        "this condition is an assignment", "write `==` to compare, or assign before the condition"
    ),
    "operand": Template("`{operator}` does not take {found}", "it takes {expected}"),
    "operands": Template("`{operator}` does not take {left} and {right}", "it takes {expected}"),
    "comparison": Template(
        "{left} and {right} cannot be compared", "compare numbers, booleans or related rebecs"
    ),
    "alternatives": Template("the alternatives have no type in common: {left} and {right}"),
    "not-array": Template("only an array has elements, not {found}"),
    "index-type": Template("an index must be an int, not {found}"),
    "timer-value": Template(
        "a timer cannot be used as a value",
        "getTimerValue(t) reads it; startTimer(t) and stopTimer(t) change it",
    ),
    "timer-expected": Template("`{name}` takes a timer, not {found}", "as in `{name}(t)`"),
    "not-assignable": Template("{what} cannot be assigned"),
    "array-whole": Template("an array cannot be used as a whole", "write an index after it"),
    "no-value": Template("this gives no value"),
    "cast": Template("{found} cannot be cast to {expected}"),
    "member": Template(
        "only properties can read the variables of other rebecs", "ask for the value in a message"
    ),
    "own-member": Template("a rebec's own variables have no `this.` before them", "write `{name}`"),
    "array-member": Template(
        "an array has no `{name}`", "its length is constant: write {length}, or an env constant"
    ),
    "choice-place": Template(
        "only message servers may draw a choice", "draw it in a message server and pass it on"
    ),
    "choice-constant": Template(
        "the alternatives of a choice must be constants", "choose a number and compute with it"
    ),
    "distribution": Template("{problem}"),
    "distribution-constant": Template(
        "the numbers of `{name}` must be constants", "use numbers and env constants"
    ),
    "distribution-value": Template(
        "a constant of the type `distribution` needs one", "write one, such as `exponential(8)`"
    ),
    "constant-type": Template(
        "a constant of a class is a number, a boolean or a distribution",
        "write `env` before the classes for an array",
    ),
    "constant-differs": Template(
        "`{name}` is inherited with the type {expected}", "give it that type here, too"
    ),
    "constant-place": Template(
        "`{name}` is a constant of the class, which only message servers and methods read",
        "give it to the constructor as an argument, or write `env` before the classes",
    ),
    "distribution-place": Template(
        "a distribution is drawn from in a choice", "write `?({name}(...))`, in a message server"
    ),
    "weight": Template(
        "a weight must be a constant above 0",
        "use numbers and env constants, as in `?(P: 1, 1 - P: 2)`",
    ),
    "weights-sum": Template(
        "the weights add up to {found}, not to 1",
        "weights that miss 1 by at most {tolerance} are scaled, others are a mistake",
    ),
    "receiver": Template("only a rebec can receive a message, not {found}"),
    "sender-class": Template(
        "the class of `sender` is not known here", "say which it is: `((Class) sender).{name}(...)`"
    ),
    "constructor-send": Template(
        "a constructor may send to self only", "send from a message server that self receives first"
    ),
    "constructor-sender": Template("a constructor has no `{word}`, as no message is being served"),
    "time-type": Template("`{word}` takes an int, not {found}"),
    "time-negative": Template("the time in `{word}` is negative ({value})"),
}

STATEMENTS = {
    "no-effect": Template("this statement has no effect", "assign the value, or remove it"),
    "return-value": Template("`{name}` gives no value", "write `return;`"),
    "return-missing-value": Template("`{name}` must return a value of type {expected}"),
    "return-missing": Template(
        "`{name}` can end without returning a value", "end every path with `return ...;`"
    ),
    "break-outside": Template("`break` outside of a loop or switch"),
    "continue-outside": Template("`continue` outside of a loop"),
    "switch-type": Template("a switch is over an int, not {found}"),
    "case-constant": Template("a case must be a constant int"),
    "case-twice": Template("the case {value} is already there (line {line})"),
    "default-twice": Template("there is already a default (line {line})"),
    "super-place": Template(
        "super(...) must be the first statement of a constructor of a class that extends another"
    ),
}

PROPERTIES = {
    "property-word": Template("a property file begins with `property {{`, not `{name}`"),
    "property-section": Template(
        "there is no section `{name}`", "sections are define, Assertion, LTL and TCTL"
    ),
    "property-separator": Template("`{found}` after `{name}` should be `{expected}`"),
    "property-tctl-core": Template(
        "TCTL formulas are for Timed Rebeca, this model is Core Rebeca", "use Assertion or LTL"
    ),
    "property-name": Template(
        "there is no definition or instance `{name}`", "declare it in `define`, or use rebec.name"
    ),
    "property-rebec": Template(
        "before the dot there must be the name of an instance", "use a name that main declares"
    ),
    "property-variable": Template("`{rebec}` has no state variable `{name}`"),
    "property-expression": Template("{what} cannot be used in a property"),
    "property-temporal": Template(
        "`{name}` is not a temporal operator of {section}", "the operators are {operators}"
    ),
    "property-arguments": Template("`{name}` takes {expected}"),
    "property-mixed": Template(
        "a temporal formula can only be combined by `!`, `&&` and `||`",
        "compare inside the temporal operators",
    ),
    "property-limit": Template("the time limit must be a constant int, 0 or more"),
    "property-bound": Template(
        "the bound of `{name}` must compare `time` with a constant", "as in `{name}(time <= 10, e)`"
    ),
}

WARNINGS = {
    "queue-size-left-out": Template(
        "`{name}` has no queue size, so its queue has room for {size} messages",
        "write it after the name: `reactiveclass {name}({size}) {{`",
    ),
    "return-unused": Template(
        "`{name}` can end without returning a value, and no caller uses its value",
        "write `void` for its type, or end every path with `return ...;`",
    ),
    "annotation-capital": Template(
        "@{name} has no effect, as in RMC", "write @{meant}, or remove it"
    ),
    "always-late": Template(
        "this message is always late: it arrives after {after}, its deadline is {deadline}",
        "both count from the sending; a deadline is at least as long as `after`",
    ),
}

MESSAGES: dict[str, Template] = {
    **READING,
    **SYNTAX,
    **DECLARATIONS,
    **MAIN,
    **EXPRESSIONS,
    **STATEMENTS,
    **PROPERTIES,
    **WARNINGS,
}
