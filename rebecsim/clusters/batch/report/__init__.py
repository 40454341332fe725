"""What reports show of batch clusters alone: schedules, users, workloads."""
