"""Results of runs: jobs and attempts as columns, figures of them, and stored tables."""
