"""Exact orders of a dispatching cluster: its decision process, tick by tick.

At a tick, whoever picks the messages decides one thing only: how many of the updates that are due
come before it. All else follows from the policy and from what is drawn. So the state between two
ticks is what waits and when each AppMaster is free, and the process has one step for each tick
instead of one for each message. The module `states` says what is merged, and why that is sound.
"""
