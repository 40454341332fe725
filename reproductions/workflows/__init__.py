"""The published experiments on WFBB-RM: tables, the runs behind them, and how far these agree."""
