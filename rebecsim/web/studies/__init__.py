"""Studies in the browser: the runs below a directory, and what is in them."""
