"""How long decisions of the resource managers take, as was recorded once.

Measured by `benchmarks/decision_times.py`, as processor time on one core, over synthetic
MapReduce, CyberShake and LIGO; MILP over small closed problems. In sum they are as long as measured
on each of these within a factor of two and a half; managers differ by factors of hundreds.
"""

from __future__ import annotations

from collections.abc import Mapping

from rebecsim.clusters.stages.decisions import DecisionTimes

DECISION_TIMES: Mapping[str, DecisionTimes] = {
    "WFBB_PD_SL_TSP1": DecisionTimes(0.0739, 0.00711, 0.000392),
    "WFBB_PD_SL_TSP2": DecisionTimes(0.165, 0.00832, 0.000242),
    "WFBB_PD_TL_TSP1": DecisionTimes(0.12, 0.0134, 0.000714),
    "WFBB_PD_TL_TSP2": DecisionTimes(0.153, 0.0161, 0.000426),
    "WFBB_ED_SL_TSP1": DecisionTimes(0.121, 0.00445, 0.000668),
    "WFBB_ED_SL_TSP2": DecisionTimes(0.163, 0.00647, 0.000399),
    "WFBB_ED_TL_TSP1": DecisionTimes(0.086, 0.0121, 0.000707),
    "WFBB_ED_TL_TSP2": DecisionTimes(0.175, 0.0127, 0.000273),
    "EDF": DecisionTimes(0.0062, 0.000996, 0),
    "MINEDF_WC": DecisionTimes(0.0104, 0.00164, 0),
    "MLF": DecisionTimes(0.017, 0.00218, 0),
    "FIFO": DecisionTimes(0.00675, 0.00113, 0),
    "MRCP_RM": DecisionTimes(0.205, 0.0204, 0.0163, 0.208, 19_900),
    "MRCP_RM_AHEAD": DecisionTimes(0.291, 0.0181, 0.0142, 0.205, 20_000),
    "MRCP_RM_MATCHING": DecisionTimes(0.421, 0.0132, 0.0141, 1.26, 5_980),
    "MRCP_RM_MATCHING_AHEAD": DecisionTimes(0.396, 0.0131, 0.0135, 1.24, 5_270),
    "MILP": DecisionTimes(524, 0, 0, 0, 40_500),
    "HCP_RM": DecisionTimes(0, 0, 0.00974, 0.255, 6_470),
}
"""By the names of managers."""
