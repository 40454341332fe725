"""What an attempt of a task does, step by step, and what became of it."""
