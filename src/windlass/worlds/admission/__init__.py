"""Small tasks on nodes that say, once a step, whether they take more of them, between bursts of neighbours.

- :mod:`~windlass.worlds.admission.spec`: what a scenario may say.
- :mod:`~windlass.worlds.admission.runs`: tasks, neighbours and telemetry put together.
- :mod:`~windlass.worlds.admission.world`: drawn, run, measured.
"""
