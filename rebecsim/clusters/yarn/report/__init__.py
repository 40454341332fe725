"""Reports of runs: tables, charts and files."""
