"""MapReduce as Hadoop 1 runs it: map and reduce slots, a JobTracker, and TaskTrackers."""
