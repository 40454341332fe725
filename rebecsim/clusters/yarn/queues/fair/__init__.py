"""The Fair Scheduler: fair shares of queues and applications, and killing for them."""
