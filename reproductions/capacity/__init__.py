"""The published experiments on Hadoop's Capacity Scheduler: settings, tables, and what they say."""
