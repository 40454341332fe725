"""What is given to whom when a node has sent a heartbeat."""
