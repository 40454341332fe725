"""The Capacity Scheduler of Hadoop 1: queues with capacities, users with limits."""
