"""Models to learn from, as Timed Rebeca and, written from it by the program, as Python.

Each has a page in docs/models. `ping_pong`, `philosophers`, `philosophers_deadlock`,
`leader_election`, `producer_consumer`, `sensor_network`, `train_crossing`, `token_ring`,
`yarn_fifo2`, `natjam_race` (of models/races), and `yarn_reservations` and `capacity_queues`, which
are written by hand, have a global `model`; solutions/ are the solutions of the exercises.
"""

__all__: list[str] = []
