"""What one model can do, and what it has done, as text."""
