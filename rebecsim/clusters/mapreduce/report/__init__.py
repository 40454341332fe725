"""Reports of MapReduce clusters: tables and pictures."""
