"""What planners share.

- :mod:`~windlass.plan.lib.problem`: queries, configurations and capacities as a few flat arrays.
- :mod:`~windlass.plan.lib.fair`: the same part of everything for everybody.
- :mod:`~windlass.plan.lib.answer`: choices as a :class:`~windlass.plan.view.Plan`, with true reasons.
"""
