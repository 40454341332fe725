"""The place of a run among all runs, for draws that its jobs share.

What is drawn once for a run differs between runs only, so that few runs say little of it. Their
places are therefore spread evenly, from a start that is drawn: any run by itself is as likely to be
in one place as in another, and the first 2, 4, 8, ... runs are equally far apart, a systematic
sample (Cochran, Sampling Techniques, 3rd edition, Wiley 1977, chapter 8), in the order of van der
Corput (Niederreiter, Random Number Generation and Quasi-Monte Carlo Methods, SIAM 1992, chapter 3).
"""

from __future__ import annotations

import numpy as np

from rebecsim.studies.study import seed_sequence


def place_of_run(seed: int, replication: int) -> float:
    """Give a number in [0, 1) for a replication of all scenarios with a seed."""
    start = np.random.default_rng(seed_sequence(seed, "places of runs", size=8)).random()
    return float((start + _reversed(replication)) % 1.0)


def _reversed(number: int) -> float:
    """Give the binary digits of a number in reverse behind the point: 0, 1/2, 1/4, 3/4, 1/8, ..."""
    digits = f"{number:b}"
    return int(digits[::-1], 2) / (1 << len(digits))
