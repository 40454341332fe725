"""Workload patterns: how many jobs arrive in a time unit, and how long each of them runs.

A pattern is a function of the time unit t = 0, 1, 2, ... Arrival patterns give jobs per time unit,
length patterns give the time units of work of one job; all values are whole numbers. Patterns whose
meaning is the same for both (nondet, wave, ascending, descending, sine, spline) are one class.

Every pattern but `nondet` is deterministic: all jobs of one time unit have the same length. The
values of `nondet` are drawn anew for every time unit (arrivals) or every job (lengths).

Each class names the template fragment that computes it in the generated model. The fragment defines
a macro `assign(target, prefix, pattern)` which writes the statements that put the pattern's value
for the time unit `m_time` into the variable `target`; the numbers it needs are constants of the
model, named `prefix` plus the names in `constants`.
"""
