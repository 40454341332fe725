"""Results on disk: run directories, and what is read of them, SQL among it."""
