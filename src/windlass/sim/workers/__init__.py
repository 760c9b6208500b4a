"""The part of small tasks on many workers: queues with two lanes, and what schedulers see of them.

- :mod:`~windlass.sim.workers.setup`: the checked arguments, and the state made from them.
- :mod:`~windlass.sim.workers.state`, :mod:`~windlass.sim.workers.slots`: tasks and workers as arrays; where numbers
  are kept.
- :mod:`~windlass.sim.workers.low_priority`: what is done with one worker's two lanes.
- :mod:`~windlass.sim.workers.log`: what schedulers will see once the probe delay has passed.
- :mod:`~windlass.sim.workers.events`: what can happen.
- :mod:`~windlass.sim.workers.loop`: when it happens.
- :mod:`~windlass.sim.workers.python_policy`: what a policy in Python is asked and told.
- :mod:`~windlass.sim.workers.part`: the workers as a part that others can be coupled with.
- :mod:`~windlass.sim.workers.result`: what came out.
"""
