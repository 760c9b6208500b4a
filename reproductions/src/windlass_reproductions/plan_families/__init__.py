"""Families of drawn planning problems, and the distance of planners from a proven bound in each.

- :mod:`~windlass_reproductions.plan_families.families`: the problems.
- :mod:`~windlass_reproductions.plan_families.proof`: the bound on the sum of accuracies of a plan, and its proof.
- :mod:`~windlass_reproductions.plan_families.paper`: ``windlass reproduce plan-families``.
"""
