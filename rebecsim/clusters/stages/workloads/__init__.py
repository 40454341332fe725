"""Streams of jobs: what their tasks are, when they arrive and may start, and their deadlines."""
