"""Commands about studies: compare, reproduce, and those that read stored results."""
