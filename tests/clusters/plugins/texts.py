"""Plug-ins that work, as the texts of their files."""

from __future__ import annotations

POLICY = '''\
from rebecsim.clusters import DispatchPolicy, Plugin

TEXT = """\\
  int chooseJob() {
    return -1;
  }
"""

plugin = Plugin(
    dispatch_policies=(DispatchPolicy("LAZY", "Lazy", "no job at all", "lazy.j2"),),
    fragments={"lazy.j2": TEXT},
)
'''

PATTERN = '''\
from typing import ClassVar, Literal

from rebecsim.clusters import Plugin, WorkloadPattern


class Twice(WorkloadPattern):
    """Twice the number."""

    fragment: ClassVar[str] = "twice.j2"
    uses_time: ClassVar[bool] = False

    pattern: Literal["twice"] = "twice"
    number: int

    @property
    def label(self) -> str:
        return f"twice {self.number}"

    @property
    def constants(self) -> dict[str, int]:
        return {"NUMBER": self.number}

    def alternatives(self, time: int) -> tuple[int, ...]:
        return (2 * self.number,)

    def largest(self, ticks: int) -> int:
        return 2 * self.number


ASSIGN = """\\
{% macro assign(target, prefix, pattern) %}
{{ target }} = 2 * {{ prefix }}_NUMBER;
{% endmacro %}
"""
plugin = Plugin(
    arrival_patterns=(Twice,), length_patterns=(Twice,), fragments={"twice.j2": ASSIGN}
)
'''
