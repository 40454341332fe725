"""Commands about workloads of real machines, and the schedulers that run them."""
