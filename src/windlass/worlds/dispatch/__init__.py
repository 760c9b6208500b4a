"""Small tasks on many workers.

- :mod:`~windlass.worlds.dispatch.spec`: what a scenario may say.
- :mod:`~windlass.worlds.dispatch.tasks`: the tasks read or drawn.
- :mod:`~windlass.worlds.dispatch.world`: the tasks dispatched, measured.
"""
