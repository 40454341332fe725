"""How long tasks run: in less memory than would be ideal, and with errors that nobody foresees."""
