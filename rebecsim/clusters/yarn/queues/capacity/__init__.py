"""The Capacity Scheduler: capacities of queues, limits of users, and killing for both."""
