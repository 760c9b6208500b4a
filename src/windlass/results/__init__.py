"""Results of a run: metrics and tables per variant and seed, and the verdict on the best variant.

- :mod:`~windlass.results.tables`: all results of a scenario as tables, and the folder that they are saved in.
- :mod:`~windlass.results.outcome`: a variant and its outcome with each seed.
- :mod:`~windlass.results.site_map`: the sites of a run, and what moved between them.
- :mod:`~windlass.results.summary`: the direction in which a metric is better, and its mean over seeds.
- :mod:`~windlass.results.metrics`: the metrics of a run, one class per world.
- :mod:`~windlass.results.verdict`: the best variant, and whether its lead is statistically significant.
- :mod:`~windlass.results.capacity`: the smallest size of a sweep that keeps a metric within today's.
- :mod:`~windlass.results.winners`: the winner and its margin at each point of a sweep, as a matrix.
- :mod:`~windlass.results.sweep_change`: the change of a metric from the first to the last point of a sweep.
- :mod:`~windlass.results.group_losses`: the groups that wait longer under the best variant than under another one.
- :mod:`~windlass.results.groups`: jobs, waits and work per user, group, queue, partition and size class.
- :mod:`~windlass.results.run_comparison`, :mod:`~windlass.results.matching`: two runs, compared over the jobs
  that they have in common.
- :mod:`~windlass.results.explanation`: the wait of one job, decision by decision.
- :mod:`~windlass.results.history`: the history of one job under several decisions.
"""

from windlass.results.outcome import INSTANCES, RECORDED, At, Choice, Outcome, Series, VariantResult
from windlass.results.site_map import SiteFlow, SiteMap, SiteUse
from windlass.results.summary import (
    COST,
    HEADLINE,
    HIGHER,
    LOWER,
    OF_JOBS,
    OF_TASKS,
    SOMETIMES,
    TRADED,
    Summary,
    better_of,
    is_headline,
    summarise,
)
from windlass.results.tables import FILES, Results

__all__ = [
    "COST",
    "FILES",
    "HEADLINE",
    "HIGHER",
    "INSTANCES",
    "LOWER",
    "OF_JOBS",
    "OF_TASKS",
    "RECORDED",
    "SOMETIMES",
    "TRADED",
    "At",
    "Choice",
    "Outcome",
    "Results",
    "Series",
    "SiteFlow",
    "SiteMap",
    "SiteUse",
    "Summary",
    "VariantResult",
    "better_of",
    "is_headline",
    "summarise",
]
