"""Queues of pending events.

- :mod:`~windlass.sim.events.heap`: a binary heap of events of any kind, ties in the order of pushing.
- :mod:`~windlass.sim.events.tree`: a winner tree, where each owner has at most one event.
"""
