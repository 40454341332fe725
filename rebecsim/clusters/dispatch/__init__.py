"""The kind `dispatch`: a ResourceManager that hands jobs with deadlines to AppMasters.

Which waiting job runs next is what its policies choose; with eviction, which running job is put
aside for another. Its models are generated as Timed Rebeca.
"""

STARTS_WORKERS_EARLY = True
"""Its runs are so short that workers start while the program still imports what it needs."""
