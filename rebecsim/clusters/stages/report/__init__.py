"""Reports of jobs with several stages: tables and charts."""
