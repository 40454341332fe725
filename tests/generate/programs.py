"""Random programs: one class whose message server computes on its state variables and ends."""

from hypothesis import strategies as st

HEAD = """\
reactiveclass A(3) {
    statevars {
        int x; int y; short s; byte b; float f; double d; boolean p; boolean q; int[4] v; byte[3] w;
    }
    A() { self.go(); }
    int twice(int k) { y += k; return k + k; }
    byte narrow(int k) { if (k > 9) { return k; } return k - 1; }
    msgsrv go() {
        int i; int j; byte c; int fuel;
        fuel = 20;
"""
TAIL = "    }\n}\nmain { A a():(); }\n"

INT_PLACES = ("x", "y", "s", "b", "i", "j", "c", "v[1]", "v[i & 3]", "w[2]")
BOOLEAN_PLACES = ("p", "q")
LITERALS = st.sampled_from([0, 1, 2, 3, 7, 100, 127, 128, 255, 32767, 65536, 2147483647]).map(str)


def _binary(operators, left, right):
    return st.builds("({1} {0} {2})".format, st.sampled_from(operators), left, right)


def _step(places):
    return st.builds(
        "{}".format,
        st.sampled_from([f for p in places for f in (f"{p}++", f"--{p}", f"({p} += 3)")]),
    )


def _integers():
    leaves = LITERALS | st.sampled_from(INT_PLACES) | st.just("?(1, 2, 5)")

    def extend(inner):
        return (
            _binary(["+", "-", "*", "&", "|", "^", "<<", ">>"], inner, inner)
            | st.builds("({} / {})".format, inner, st.sampled_from(["3", "-2", "7"]))
            | st.builds("({} % {})".format, inner, st.sampled_from(["3", "-2", "7"]))
            | st.builds("(- {})".format, inner)
            | st.builds("(~ {})".format, inner)
            | st.builds("((byte) {})".format, inner)
            | st.builds("((short) {})".format, inner)
            | st.builds("({} < {} ? {} : {})".format, inner, inner, inner, inner)
            | st.builds("twice({})".format, inner)
            | st.builds("narrow({})".format, inner)
            | _step(INT_PLACES)
        )

    return st.recursive(leaves, extend, max_leaves=6)


INTEGERS = _integers()
FLOATS = st.recursive(
    st.sampled_from(["f", "d", "0.1", "0.1f", "1.5d", "x", "b", "3.0"]),
    lambda inner: _binary(["+", "-", "*"], inner, inner) | st.builds("(- {})".format, inner),
    max_leaves=4,
)
CONDITIONS = st.recursive(
    _binary(["<", "<=", "==", "!=", ">", ">="], INTEGERS, INTEGERS)
    | _binary(["<", "!="], FLOATS, FLOATS)
    | st.sampled_from(["true", "false", *BOOLEAN_PLACES, "((p = !q) || q)", "(true && (q ^= p))"]),
    lambda inner: _binary(["&&", "||", "==", "^"], inner, inner) | st.builds("!({})".format, inner),
    max_leaves=3,
)

SIMPLE = (
    st.builds(
        "{} {} {};".format,
        st.sampled_from([*INT_PLACES, "v[j++ & 3]"]),
        st.sampled_from(["=", "+=", "-=", "*=", "&=", "^="]),
        INTEGERS,
    )
    | st.builds("{} = {};".format, st.sampled_from(["f", "d"]), FLOATS)
    | st.builds("{} {} {};".format, st.sampled_from("fd"), st.sampled_from(["+=", "-="]), FLOATS)
    | st.sampled_from(["d = f++;", "f = ++d;", "f = d--;"])
    | st.builds("{} = {};".format, st.sampled_from(BOOLEAN_PLACES), CONDITIONS)
    | _step(INT_PLACES).map("{};".format)
    | st.just(";")
)


def _blocks(inner):
    return st.lists(inner, max_size=3).map(" ".join).map("{{ {} }}".format)


def _nested(template, *parts):
    """Write a statement that declares `k@`; the ones inside it get one @ more."""
    return st.builds(
        lambda *inside: template.format(*(part.replace("k@", "k@@") for part in inside)), *parts
    )


def _statements(inner):
    leaving = st.sampled_from(["", "break;", "continue;"])
    guarded = st.builds("if ({}) {}".format, CONDITIONS, leaving.map("{{ {} }}".format))
    body = st.builds("{{ {} {} {} }}".format, inner, guarded, inner)
    case_end = st.sampled_from(["break;", "break;", "", "if (p) break; x++;", "if (q) continue;"])
    cases = st.lists(st.tuples(_blocks(inner), case_end), min_size=1, max_size=4).map(
        lambda parts: " ".join(
            f"{'default' if n == 2 else f'case {n}'}: {block} {end}"
            for n, (block, end) in enumerate(parts)
        )
    )
    start, up, down = (
        st.sampled_from(values)
        for values in (["0", "1", "(x & 3)", "-2"], ["<", "<="], [">", ">="])
    )
    return (
        st.builds("if ({}) {} else {}".format, CONDITIONS, _blocks(inner), _blocks(inner))
        | st.builds("if ({}) {}".format, CONDITIONS, inner)
        | _nested("for (int k@ = {}; k@ {} 4; k@++) {}", start, up, body)
        | _nested("for (int k@ = 3; k@ {} 0; k@--) {}", down, body)
        | _nested("for (int k@ = 0; k@ < 3; k@++) {{ v[k@] += k@; w[2 - k@]--; {} }}", inner)
        | st.builds(
            "for (i = 0, j = 3; i < j; i++) {{ if (--fuel < 0) break; "
            "j -= (i & 1) == 0 ? 1 : 0; {} }}".format,
            body,
        )
        | st.builds("while ({} && fuel-- > 0) {}".format, CONDITIONS, body)
        | _nested("for (int k@ = 0; k@ < 2; k@++) {{ switch ({} & 3) {{ {} }} }}", INTEGERS, cases)
        | _nested("{{ int k@ = {}; x ^= k@; }}", INTEGERS)
    )


BODIES = st.lists(st.recursive(SIMPLE, _statements, max_leaves=8), min_size=1, max_size=5)
PROGRAMS = BODIES.map(
    lambda lines: HEAD + "".join(f"        {line}\n" for line in lines).replace("@", "_") + TAIL
)
