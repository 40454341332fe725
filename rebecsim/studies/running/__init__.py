"""Running plans: here or on other machines, until figures are precise enough."""
