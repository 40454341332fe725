"""Temporal properties: formulas of LTL and TCTL over the graph of all states."""
