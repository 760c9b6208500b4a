"""What a run yields: metrics and tables per variant and seed, and which variant is better.

- :mod:`~windlass.results.tables`: all of it, as tables, and the folder that they are saved in.
- :mod:`~windlass.results.outcome`: a variant, and what came out of it with each seed.
- :mod:`~windlass.results.summary`: which values of a metric are better, and a metric over seeds.
- :mod:`~windlass.results.metrics`: what is measured of a run, a class per world.
- :mod:`~windlass.results.verdict`: which variant is better, and whether the difference is significant.
- :mod:`~windlass.results.explanation`: what one job waited for, decision by decision.
"""

from windlass.results.outcome import AS_IT_WAS, At, Choice, Outcome, Series, VariantResult
from windlass.results.summary import HIGHER, LOWER, SOMETIMES, Summary, better_of, summarise
from windlass.results.tables import FILES, Results

__all__ = [
    "AS_IT_WAS",
    "FILES",
    "HIGHER",
    "LOWER",
    "SOMETIMES",
    "At",
    "Choice",
    "Outcome",
    "Results",
    "Series",
    "Summary",
    "VariantResult",
    "better_of",
    "summarise",
]
