"""Nodes that measure themselves: the part of the simulated cluster in which admission decides.

- :mod:`~windlass.sim.telemetry.part`: measures, and lets each node answer, once a step.
- :mod:`~windlass.sim.telemetry.gate`: asks what stands, once a task, before dispatch's choice stands.
- :mod:`~windlass.sim.telemetry.pressure`: what tasks and neighbours did to a node over a step.
- :mod:`~windlass.sim.telemetry.metrics`: the metrics that a node under such pressure would measure.
- :mod:`~windlass.sim.telemetry.neighbours`: who holds cores of nodes in bursts.
- :mod:`~windlass.sim.telemetry.result`: what nodes measured and answered.
"""
