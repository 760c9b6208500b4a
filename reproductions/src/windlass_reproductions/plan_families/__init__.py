"""Families of drawn planning problems, and the distance of planners from a proven bound in each.

- :mod:`~windlass_reproductions.plan_families.families`: the problems.
- :mod:`~windlass_reproductions.plan_families.comparison`: planners on one problem, and what is proven about it.
- :mod:`~windlass_reproductions.plan_families.paper`: ``windlass reproduce plan-families``.
"""
