"""``windlass admit``: how well policies predict spikes in recorded telemetry.

- :mod:`~windlass.cli.admit.command`: ``evaluate``.
- :mod:`~windlass.cli.admit.output`: its tables, page and JSON.
- :mod:`~windlass.cli.admit.compared`: differences to the best baseline and to Pronto.
"""

from windlass.admit.evaluation.recordings import EvaluationOptions
from windlass.cli.admit.command import evaluate_command, shares

__all__ = ["EvaluationOptions", "evaluate_command", "shares"]
