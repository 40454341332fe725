"""Batch policies: the order of the queue, backfilling, and the books that they keep."""
