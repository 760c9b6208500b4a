"""What dispatch policies share.

- :mod:`~windlass.dispatch.lib.alias`: proportional sampling in constant time.
- :mod:`~windlass.dispatch.lib.rated`: policies that draw workers in proportion to known rates.
- :mod:`~windlass.dispatch.lib.learner`: workers' rates, learned from their last completions.
- :mod:`~windlass.dispatch.lib.bandit`: work and busy time of past completions, old ones fading.
"""
