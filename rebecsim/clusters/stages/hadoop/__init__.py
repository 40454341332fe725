"""MapReduce jobs with deadlines on Hadoop 1, where TaskTrackers ask for tasks by heartbeats."""
