"""Studies in the browser: forms for them, their processes, and the runs below a directory."""
