"""Results on disk: run directories, their records, and SQL over them."""
