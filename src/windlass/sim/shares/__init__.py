"""Two jobs on one allocation: the part of the simulated cluster in which a co-scheduler acts.

- :mod:`~windlass.sim.shares.part`: asks who shares with whom, and lets it be so.
- :mod:`~windlass.sim.shares.course`: how far a job is, and what it has used up to there.
- :mod:`~windlass.sim.shares.neighbours`: how fast two jobs are on the same cores.
- :mod:`~windlass.sim.shares.log`: which quotas stood when.
- :mod:`~windlass.sim.shares.result`: who shared with whom, at what quota and when.
"""
