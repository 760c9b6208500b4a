"""The part of small tasks on many workers: two queues per worker, and what schedulers know of them.

- :mod:`~windlass.sim.workers.setup`: the arguments, and the state made from them.
- :mod:`~windlass.sim.workers.state`: tasks and workers as arrays; :mod:`~windlass.sim.workers.scalars`: settings and
  counters.
- :mod:`~windlass.sim.workers.starting`: the start of a task.
- :mod:`~windlass.sim.workers.late`: reservations, which take a task when a worker reaches them.
- :mod:`~windlass.sim.workers.central`: tasks that wait with their schedulers.
- :mod:`~windlass.sim.workers.low_priority`: steps of one worker and its two queues.
- :mod:`~windlass.sim.workers.log`: queue lengths and completions on their way to schedulers.
- :mod:`~windlass.sim.workers.events`: events, one function each.
- :mod:`~windlass.sim.workers.loop`: the loop that calls them in the order of time.
- :mod:`~windlass.sim.workers.membership`: waiting tasks after a change of the workers that the policy considers.
- :mod:`~windlass.sim.workers.node_changes`: the effect of a changed node on its worker.
- :mod:`~windlass.sim.workers.spill`: tasks that a site refuses on their way to others;
  :mod:`~windlass.sim.workers.guests`: room for them, and their results.
- :mod:`~windlass.sim.workers.python_policy`: calls of a policy in Python.
- :mod:`~windlass.sim.workers.part`: the workers as a part, for coupling with other parts.
- :mod:`~windlass.sim.workers.result`: the result.
"""
