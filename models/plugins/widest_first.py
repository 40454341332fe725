"""An order of a batch queue as a plug-in: the widest job first."""

from rebecsim.clusters import Plugin
from rebecsim.clusters.batch import BatchPolicy, EasyBackfilling, Job, QueueOrder


class WidestFirst(QueueOrder):
    """The most processors first."""

    def key(self, job: Job, now: int) -> int:
        """Give the number of processors, negated: the smallest key is the head."""
        return -job.processors


plugin = Plugin(
    batch_policies=(
        BatchPolicy(
            name="WIDEST",
            title="Widest job first",
            description="the job with the most processors is the head; nothing overtakes it",
            order=WidestFirst,
        ),
        BatchPolicy(
            name="WIDEST_EASY",
            title="EASY backfilling, widest job first",
            description="the job with the most processors is the head; a job overtakes if that "
            "does not delay it",
            order=WidestFirst,
            backfilling=EasyBackfilling,
        ),
    ),
)
