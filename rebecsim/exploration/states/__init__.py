"""States of a model, the effect of serving a message, and successor states."""
