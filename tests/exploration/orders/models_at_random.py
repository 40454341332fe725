"""Small timed models drawn at random, in which the order of messages decides much."""

from __future__ import annotations

import random


def model_at_random(draw: random.Random, priorities: bool = True) -> str:
    """Draw a model of two or three rebecs that send each other messages and count."""
    count = draw.choice([2, 2, 3])
    lines = [
        f"reactiveclass Node({draw.choice([2, 3, 4])}) {{",
        "  knownrebecs { Node peer; }",
        "  statevars { int count; int last; int served; }",
        "  Node(int first) { served = first; self.go(first) after(first); }",
        "  msgsrv go(int x) {",
    ]
    body = [
        draw.choice(["count = count * 2 + x;", "count = count + x;", "count = x - last;"]),
        draw.choice(["last = x;", "last = last + 1;"]),
        draw.choice(["if (x > 0) peer.go(x - 1);", "peer.go(1) after(1);", ""]),
        draw.choice(
            [
                "self.go(last) after(2);",
                "peer.go(1) after(1) deadline(2);",
                "if (count > 1) { self.go(0) after(1); } else { peer.go(2) after(2); }",
            ]
        ),
        draw.choice(["assertion(count < 3);", "", ""]),
    ]
    chosen = draw.choice(
        [
            "last = ?(0, 1, 1);",
            "delay(?(0, 2));",
            "last = ?(0, 1);",
            "delay(?(0.2: 0, 0.7: 1, 0.1: 2));",
            "pAlt { prob(0.25): { last = ?(0, 1); } prob(0.75): { count++; } }",
            "",
        ]
    )
    body.insert(draw.choice([1, 2]), f"if (x != 1) {{ {chosen} }}")
    body.append(draw.choice(["served++;", "served += x + 1;", "served = served - last;"]))
    lines += [f"    {each}" for each in body if each]
    lines += ["  }", "}", "main {"]
    for each in range(count):
        priority = (
            f"@priority({draw.choice([1, 2])}) " if priorities and draw.random() < 0.3 else ""
        )
        lines.append(f"  {priority}Node n{each}(n{(each + 1) % count}):({draw.choice([0, 1])});")
    return "\n".join([*lines, "}", ""])
