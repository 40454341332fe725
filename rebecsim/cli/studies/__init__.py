"""Commands about studies: compare, reproduce, and what is done with their results."""
