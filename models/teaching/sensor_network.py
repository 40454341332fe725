"""sensor_network.rebeca as Python: written by rebecsim, not by hand.

Calling a message server sends a message; everything else happens at once. The comments name the
lines of the Rebeca text.
"""

from __future__ import annotations

from rebecsim.actors import (
    Instance,
    Model,
    Rebec,
    known_rebec,
    message_server,
)

PERIOD = 10
FRESH = 6


class Sensor(Rebec, queue_size=2):
    """Reactive class of line 10."""

    gateway: Gateway = known_rebec()

    def __init__(self, phase: int) -> None:
        # sensor_network.rebeca, line 15
        self.measure(after=phase)  # line 16

    @message_server
    def measure(self) -> None:
        # sensor_network.rebeca, line 19
        self.gateway.reading(after=self.choose(1, 2, site=1), deadline=FRESH)  # line 20
        self.measure(after=PERIOD)  # line 21


class Gateway(Rebec, queue_size=6):
    """Reactive class of line 25."""

    @message_server
    def reading(self) -> None:
        # sensor_network.rebeca, line 26
        self.delay(self.choose(1, 2, site=1))  # line 27


model = Model(
    "sensor_network",
    (
        Instance("gateway", Gateway),
        Instance("north", Sensor, knows=["gateway"], arguments=[0]),
        Instance("east", Sensor, knows=["gateway"], arguments=[0]),
        Instance("south", Sensor, knows=["gateway"], arguments=[0]),
    ),
)
