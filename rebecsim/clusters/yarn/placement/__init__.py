"""Where containers may run: labels, spreading over nodes, and waiting for a node that is near."""
