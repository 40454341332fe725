"""One word is one thing."""

import ast
from collections import Counter
from pathlib import Path

import rebecsim

ONE_THING = (
    *("Answer", "Compared", "Comparison", "Configuration", "Decision", "Edge", "Edges", "Ending"),
    *("Hardware", "Limits", "Linear", "ManyRuns", "Move", "Node", "Order", "Outcome", "Pool"),
    *("Power", "Problem", "Properties", "Repetition", "Results", "Rows", "Run", "Runner"),
    *("Scheduler", "Served", "Serving", "Shown", "Start", "StateGraph", "Step", "Until"),
    *("Usage", "Walk", "Way", "Written"),
)


def test_what_has_been_several_things_is_one() -> None:
    classes = Counter(
        node.name
        for path in Path(rebecsim.__path__[0]).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ClassDef)
    )
    assert not {name: classes[name] for name in ONE_THING if classes[name] > 1}
