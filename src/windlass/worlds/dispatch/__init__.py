"""Small tasks on many workers.

- :mod:`~windlass.worlds.dispatch.spec`: what a scenario may say.
- :mod:`~windlass.worlds.dispatch.world`: the tasks drawn or read, dispatched, measured.
"""
