"""What goes wrong in a cluster, and what helps: nodes that fail, tasks that lag, and backups."""
