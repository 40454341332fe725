"""Random models of several rebecs that send, delay, choose, miss deadlines and fail."""

from hypothesis import strategies as st

from tests.generate.programs import BODIES

HEAD = """\
env int SMALL = 2;
env float HALF = 0.5;
reactiveclass A({queue}) {{
    knownrebecs {{ A peer; }}
    statevars {{
        int x; int y; short s; byte b; float f; double d; boolean p; boolean q; int[4] v; byte[3] w;
        float[2] g; A last; boolean[2][2] m;
    }}
    A(int start) {{ x = start; self.go() after(start); self.tock(start, true, 1.5, self); }}
    int twice(int k) {{ y += k; return k + k; }}
    byte narrow(int k) {{ if (k > 9) {{ return k; }} return k - 1; }}
    int at(int k) {{ v[k]++; return v[k]; }}
    int total(int[4] a, int k) {{ int t = a[1] * k; a[k & 3] = 9; return t + a[2] + a[3]; }}
    void forward(int k) {{ peer.tock(k, p, f, last) after(1) deadline(k); }}
    msgsrv go() {{
        int i; int j; byte c; int fuel;
        fuel = 20;
"""
TAIL = """\
        peer.go() after(SMALL);
    }
    @priority(1) msgsrv tock(int n, boolean flag, float h, A who) {
        last = who; p = flag; f = h + HALF; g[n & 1] = f; m[n & 1][1] = !flag; x += n;
        last.tick();
    }
    msgsrv give(int[4] a, int k, float[2] h, boolean[2] m) {
        h[1] = a[k & 3]; v[1] += total(a, k); q = m[1]; g[0] = h[1];
    }
    msgsrv tick() { s += now; if (sender == self) { b++; } }
}
reactiveclass B extends A(3) {
    statevars { int mine; }
    B(int start) { super(start); mine = start; }
    msgsrv tick() { mine += currentMessageWaitingTime; y ^= 5; }
}
main { A a(b):(0); @priority(1) B b(c):(1); A c(a):(0); }
"""
ACTIONS = st.sampled_from(
    [
        "delay(x & 3);",
        "{ int x = 2; boolean last = p; self.x += x; self.y = self.twice(self.x & 3) + x; }",
        "self.peer.tock(self.x & 1, self.q, f, self.last) after(1); self.v[self.x & 3]--;",
        "delay(?(0, 1, 2));",
        "x += ?(0.2: 0, HALF: 1, 0.3: 2); self.tick() after(?(1 - HALF: 1, HALF: 2));",
        "pAlt { prob(HALF): { if (x > 3) break; y++; } prob(0.5): { y = ?(0.1: 1, 0.9: 5); } }",
        "peer.tick() after(?(1, 2)) deadline(y & 7);",
        "self.tock(twice(x), p, f * 2, (A) sender) after(1);",
        "peer.tock(x & 1, q, f, self) after(x);",
        "((A) peer).tick() after(1);",
        "((B) peer).tick() after(1);",
        "last.tick() after(1);",
        "forward(x & 3);",
        "y = total(v, at(1)) + total(self.v, x & 3);",
        "peer.give(v, at(2), g, m[x & 1]) after(1); v[0]++;",
        "{ int[4] v; v[1] = x; self.give(v, 1, self.g, m[1]); }",
        "x = at(y & 7);",
        "v[s & 7] = at(1) + at(x & 7);",
        "y = x / b;",
        "y = y % (s & 3) + ?(1, 2);",
        "x = (int) (f * 100000);",
        "f = f / g[0]; g[1] = f;",
        "m[x & 1][y & 1] = x > y;",
        'assertion(x < 1000, "x is small");',
        "assertion(!m[0][0] || x < 100);",
        "if (x < 3 && v[x] == 0 || peer == last) { x++; } else if (v[y & 7] > 1) { y++; }",
        "while (v[x & 7] > 0 && x > 0) { x--; }",
        "{ int[2][3] grid; grid[1][x & 3] = 4; y += grid[1][0] + grid[0][2]; }",
        "switch (v[y & 7]) { case 0: x++; break; case 1: y--; default: q = !q; }",
        "for (int n = v[x & 7]; n < 3; n++) { y += n; }",
    ]
)
LINES = st.lists(ACTIONS | BODIES.map(" ".join), min_size=1, max_size=6)
MODELS = st.builds(
    lambda queue, lines: (
        HEAD.format(queue=queue)
        + "".join(f"        {line}\n" for line in lines).replace("@", "_")
        + TAIL
    ),
    st.sampled_from([2, 4, 9]),
    LINES,
)
