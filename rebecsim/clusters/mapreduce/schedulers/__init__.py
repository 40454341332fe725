"""Who gets a free slot: the schedulers of Hadoop 1."""
