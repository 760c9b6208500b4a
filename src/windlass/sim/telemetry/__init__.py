"""Nodes that measure themselves: the part of the simulated cluster that decides about admission.

- :mod:`~windlass.sim.telemetry.part`: measures each node once a step, and lets it admit or reject tasks.
- :mod:`~windlass.sim.telemetry.steps`, :mod:`~windlass.sim.telemetry.state`: its compiled steps, and their arrays.
- :mod:`~windlass.sim.telemetry.policy_call`: calls of a compiled policy in the loop.
- :mod:`~windlass.sim.telemetry.site_policy`: the policy of a site, or one policy for each node.
- :mod:`~windlass.sim.telemetry.answers`: the answers in the state of a dispatch policy, and tasks by answer.
- :mod:`~windlass.sim.telemetry.gate`: applies the answers to each task that is dispatched at once.
- :mod:`~windlass.sim.telemetry.late_gate`: applies the answers to the nodes that take waiting tasks.
- :mod:`~windlass.sim.telemetry.binding`: how the answers reach tasks, at once or late.
- :mod:`~windlass.sim.telemetry.cores`: the cores of each node during a step.
- :mod:`~windlass.sim.telemetry.pressure`: the load that tasks and neighbours put on a node during a step.
- :mod:`~windlass.sim.telemetry.unfinished`: the tasks that have not ended, from step to step.
- :mod:`~windlass.sim.telemetry.metrics`: the metrics that a node measures under that load.
- :mod:`~windlass.sim.telemetry.neighbours`: other software, which holds cores of nodes in bursts.
- :mod:`~windlass.sim.telemetry.neighbour_steps`: its compiled steps.
- :mod:`~windlass.sim.telemetry.result`: measurements and answers of a simulation.
"""
