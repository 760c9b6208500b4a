"""Parts that several dispatch policies share, as compiled functions on their state.

- :mod:`~windlass.dispatch.lib.alias`: samples in proportion to rates, in constant time.
- :mod:`~windlass.dispatch.lib.rated`: the base class of policies with given rates, and samples of two workers.
- :mod:`~windlass.dispatch.lib.learner`: rates learned from the last completions.
- :mod:`~windlass.dispatch.lib.learning`: the base class of policies on that learner, and their split over
  schedulers.
- :mod:`~windlass.dispatch.lib.speeds`: speeds from the logarithms of durations.
- :mod:`~windlass.dispatch.lib.ranking`: the order of learned speeds, and the number of waiting tasks from which on a
  slow worker is useful.
- :mod:`~windlass.dispatch.lib.ahead`: when a busy worker requests its next task ahead.
- :mod:`~windlass.dispatch.lib.bandit`: rates learned from all completions with exponential forgetting.
- :mod:`~windlass.dispatch.lib.outstanding`: tasks that were sent and have not returned.
"""
