"""Resource managers, which decide where and when each task runs."""
