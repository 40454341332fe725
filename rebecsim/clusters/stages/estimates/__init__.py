"""What users say of how long tasks run, where that is wrong, and what plans do about it."""
