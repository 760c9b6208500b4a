"""Small tasks on many workers.

- :mod:`~windlass.experiment.worlds.dispatch.spec`: what a scenario may say.
- :mod:`~windlass.experiment.worlds.dispatch.tasks`: the tasks read or drawn.
- :mod:`~windlass.experiment.worlds.dispatch.world`: the tasks dispatched, measured.
"""
