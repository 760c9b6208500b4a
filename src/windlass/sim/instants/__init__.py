"""The compiled coordination of parts: which part is called at an instant, and in which order.

- :mod:`~windlass.sim.instants.state`: the coordination as arrays, and the links between parts.
- :mod:`~windlass.sim.instants.calls`: calls of the compiled functions of a part.
- :mod:`~windlass.sim.instants.loop`: the phases of an instant.
"""
