"""Published figures of MapReduce jobs with deadlines beside ours."""
