"""What dispatch policies share, as compiled functions on their state.

- :mod:`~windlass.dispatch.lib.alias`: draws in proportion to rates, in constant time.
- :mod:`~windlass.dispatch.lib.rated`: policies that are given rates, and draws of two workers by them.
- :mod:`~windlass.dispatch.lib.learner`: rates learned from the last completions.
- :mod:`~windlass.dispatch.lib.learning`: what policies on that learner say of it, and how several share workers.
- :mod:`~windlass.dispatch.lib.ranking`: the order of learned speeds, and when a slow worker is worth having.
- :mod:`~windlass.dispatch.lib.bandit`: rates learned from all completions, old ones fading.
"""
