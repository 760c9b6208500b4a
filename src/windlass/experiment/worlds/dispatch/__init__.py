"""Small tasks on many workers.

- :mod:`~windlass.experiment.worlds.dispatch.spec`: the fields of a scenario.
- :mod:`~windlass.experiment.worlds.dispatch.tasks`: tasks from a log, or parameters for generating them.
- :mod:`~windlass.experiment.worlds.dispatch.world`: dispatches and measures the tasks.
"""
