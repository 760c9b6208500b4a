"""Small tasks on nodes that say, once a step, whether they take more of them, between bursts of neighbours.

- :mod:`~windlass.experiment.worlds.admission.spec`: what a scenario may say.
- :mod:`~windlass.experiment.worlds.admission.simulation`: tasks, neighbours and telemetry put together.
- :mod:`~windlass.experiment.worlds.admission.world`: drawn, run, measured.
"""
