"""Pairs of jobs that share an allocation: the part of the simulated cluster in which a co-scheduler acts.

- :mod:`~windlass.sim.shares.part`: the part, which calls the policy and carries out its answers.
- :mod:`~windlass.sim.shares.steps`: its compiled steps, for instants at which nothing happens to a pair.
- :mod:`~windlass.sim.shares.course`: a job's progress through its stages, and its use of resources up to there.
- :mod:`~windlass.sim.shares.neighbours`: the speeds of two jobs on the same cores.
- :mod:`~windlass.sim.shares.log`: the log of quotas.
- :mod:`~windlass.sim.shares.result`: the result of a run: pairs, quotas and times.
"""
