"""The verdict: the best variant, and whether its lead is statistically significant.

- :mod:`~windlass.results.verdict.paired`: confidence intervals of paired differences, and the test for correlated
  neighbours.
- :mod:`~windlass.results.verdict.measures`: metrics recomputed from any subset of the jobs of a table.
- :mod:`~windlass.results.verdict.without_blocks`: means and percentiles without each of several blocks.
- :mod:`~windlass.results.verdict.repeated`: a metric by seed or by block of the log, the same for all variants.
- :mod:`~windlass.results.verdict.blocks`: a log in blocks of consecutive jobs, with intervals and signs of differences.
- :mod:`~windlass.results.verdict.effective_size`: the number of independent jobs that an interval requires.
- :mod:`~windlass.results.verdict.sign_flip`: a test that does not depend on the tails of the differences.
- :mod:`~windlass.results.verdict.evidence`: an interval, or why there is none, with the signs: when a lead counts.
- :mod:`~windlass.results.verdict.compare`: the best of variants that differ only in their policies, and its ties.
- :mod:`~windlass.results.verdict.require`: the operator's requirements, such as ``p99_wait<=1.1*fcfs``.
- :mod:`~windlass.results.verdict.fidelity`: the error of a replay with respect to the log.
- :mod:`~windlass.results.verdict.ablation`: what each decision is worth, where variants leave decisions out.
- :mod:`~windlass.results.verdict.pareto`: the Pareto front of cost and wait.
- :mod:`~windlass.results.verdict.judge`: the verdict on results: the best at each point, its costs, and the variants
  that violate a requirement.
- :mod:`~windlass.results.verdict.headlines`: the verdict over several metrics, those that each load is judged by.
- :mod:`~windlass.results.verdict.judgement`: the verdict on the chosen metric, or on all headline metrics.
- :mod:`~windlass.results.verdict.sample_size`: the number of jobs or seeds that would make a difference significant.

A verdict holds numbers only; :mod:`windlass.report.sentence` writes its sentences.
"""

from windlass.results.verdict.ablation import Ablation, Effect, Interaction, ablation
from windlass.results.verdict.compare import Comparison, comparable, compare
from windlass.results.verdict.fidelity import Fidelity, fidelity
from windlass.results.verdict.headlines import VariantStanding, headlines, standings
from windlass.results.verdict.judge import PointVerdict, Verdict, check_names, judge
from windlass.results.verdict.judgement import Judgement, judgement
from windlass.results.verdict.paired import ConfidenceInterval, paired_interval
from windlass.results.verdict.require import Requirement, parse_requirements

__all__ = [
    "Ablation",
    "Comparison",
    "ConfidenceInterval",
    "Effect",
    "Fidelity",
    "Interaction",
    "Judgement",
    "PointVerdict",
    "Requirement",
    "VariantStanding",
    "Verdict",
    "ablation",
    "check_names",
    "comparable",
    "compare",
    "fidelity",
    "headlines",
    "judge",
    "judgement",
    "paired_interval",
    "parse_requirements",
    "standings",
]
