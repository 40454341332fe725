"""The queues of Hadoop 3 as schedulers: the Capacity Scheduler and the Fair Scheduler."""
