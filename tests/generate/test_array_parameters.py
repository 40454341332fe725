"""Arrays as arguments: by value, in messages and in calls of methods."""

from __future__ import annotations

from typing import Any

from rebecsim.actors import FifoScheduler
from rebecsim.exploration import Checks, explore
from rebecsim.generate import build_model
from rebecsim.lang import check_source, parse_model
from rebecsim.lang.printer import print_model
from rebecsim.simulation import Tracer, simulate

MODEL = """
env int N = 3;
env int[N] ALL = {1, 2, 3};
interface Sink { msgsrv put(int[N] a, int k); }
reactiveclass A(9) {
    knownrebecs { Sink sink; }
    statevars { int[N] v; int[2][3] grid; int s; }
    A() { v[0] = 7; self.go(v); v[0] = 8; }
    int sum(int[3] a) { int t = 0; for (int i = 0; i < N; i++) { t += a[i]; a[i] = 0; } return t; }
    int touch() { v[1]++; return v[1]; }
    int both(int[3] a, int k) { return a[1] * 10 + k; }
    void clear(int[2][3] g) { g[1][2] = 7; }
    msgsrv go(int[1 + 2] a) {
        s = sum(a) * 1000 + sum(v) * 100 + sum(ALL) * 10 + sum(a) - sum(a);
        clear(grid);
        sink.put(v, both(v, touch()));
        a[0] = 5;
        sink.put(a, grid[1][2]) after(1);
        a[0] = 6;
    }
}
reactiveclass B implements Sink(9) {
    statevars { int[3] last; int k; }
    msgsrv put(int[3] a, int k) { last[0] = a[0]; last[1] = a[1]; self.k = k; a[0] = 99; }
}
main { A a(b):(); B b():(); }
"""


def events(text: str) -> list[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    tracer = Tracer()
    simulate(build_model(check_source(text)), FifoScheduler(), tracer=tracer)
    return [(each.server, each.arguments, dict(each.changed)) for each in tracer.events]


def test_arguments_are_copies_as_they_were_when_they_were_sent() -> None:
    assert events(MODEL) == [
        ("go", ([7, 0, 0],), {"v": [8, 1, 0], "s": 7860}),
        ("put", ([8, 0, 0], 1), {"last": [8, 0, 0], "k": 1}),
        ("put", ([5, 0, 0], 0), {"last": [5, 0, 0], "k": 0}),
    ]


def test_they_are_printed_as_they_are_read() -> None:
    tree = parse_model(MODEL)
    assert parse_model(print_model(tree)) == tree


def test_arrays_of_rebecs_are_renamed_by_symmetries() -> None:
    text = """
    reactiveclass Hub(6) {
        statevars { Node first; Node[2] last; }
        msgsrv meet(Node[2] pair) { if (first == null) { first = pair[0]; } last[1] = pair[1]; }
    }
    reactiveclass Node(3) {
        knownrebecs { Hub hub; Node next; }
        statevars { int turns; }
        Node() { self.go(); }
        msgsrv go() {
            Node[2] pair = {self, next};
            hub.meet(pair);
            turns++;
            if (turns < 2) { self.go() after(1); }
        }
    }
    main { Hub hub():(); Node a(hub, b):(); Node b(hub, c):(); Node c(hub, a):(); }
    """
    checked = check_source(text)
    model = build_model(checked)
    checks = Checks(invariants=["!(hub.first == b && hub.last[1] == b)"])
    found = {
        (reduce, engine): explore(
            model, checked=checked, checks=checks, reduce=reduce, engine=engine, stop_at="all"
        )
        for reduce in (False, True)
        for engine in ("python", "native")
    }
    whole, reduced = found[False, "python"], found[True, "python"]
    assert reduced.symmetries == 1 or reduced.states < whole.states
    assert len({each.verdict for each in found.values()}) == 1
    assert found[False, "native"].states == whole.states
    assert found[True, "native"].states == reduced.states
