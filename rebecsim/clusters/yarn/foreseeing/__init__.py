"""How a cluster would go on: what PEEK looks at before it gives less memory."""
