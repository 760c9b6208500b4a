"""``windlass admit``: what signals foresee on a machine's telemetry.

- :mod:`~windlass.cli.admit.command`: ``evaluate``.
- :mod:`~windlass.cli.admit.output`: its tables, page and JSON.
- :mod:`~windlass.cli.admit.compared`: who is ahead of whom.
"""

from windlass.cli.admit.command import (
    EvaluationOptions,
    evaluate,
    evaluate_apart,
    evaluate_command,
    node_of,
    shares,
)

__all__ = ["EvaluationOptions", "evaluate", "evaluate_apart", "evaluate_command", "node_of", "shares"]
