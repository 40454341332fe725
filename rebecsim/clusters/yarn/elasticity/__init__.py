"""How long tasks run in less memory than is ideal, and with errors of estimates."""
