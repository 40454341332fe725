"""What is told and drawn of jobs of several stages."""
