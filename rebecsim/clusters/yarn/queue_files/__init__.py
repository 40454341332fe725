"""What the files of Hadoop's schedulers say: queues, their capacities and their limits."""
