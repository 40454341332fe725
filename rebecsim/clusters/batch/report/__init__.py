"""Sections of reports for batch clusters: schedules, users, workloads."""
