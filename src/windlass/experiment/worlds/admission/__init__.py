"""Small tasks on nodes that decide once a step whether to admit more of them, while neighbours use CPU in bursts.

- :mod:`~windlass.experiment.worlds.admission.spec`: the fields of a scenario.
- :mod:`~windlass.experiment.worlds.admission.world`: generates, runs and measures the tasks.
"""
