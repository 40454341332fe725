"""The schedulers of Hadoop 1, which give free slots to jobs."""
