"""A scheduler of YARN clusters as a plug-in: the job with the fewest tasks first."""

from rebecsim.clusters import Plugin
from rebecsim.clusters.yarn import Application, ShortestRemaining, YarnScheduler


class FewestTasksFirst(ShortestRemaining):
    """The fewest tasks that wait for containers first, however long they are."""

    def remaining(self, application: Application) -> int:
        """Give how many tasks wait: the smallest number goes first."""
        return sum(count for _, count in application.left)


plugin = Plugin(
    yarn_schedulers=(
        YarnScheduler(
            name="FEWEST",
            title="Fewest tasks first",
            description="the job with the fewest tasks that wait for containers goes first",
            scheduler=FewestTasksFirst,
        ),
    ),
)
