"""``windlass plan``: streaming queries, their configurations and where they run.

- :mod:`~windlass.cli.plan.group`: the commands and their options.
- :mod:`~windlass.cli.plan.solve`: ``solve``; :mod:`~windlass.cli.plan.shown`: its tables and JSON.
"""

from windlass.cli.plan.group import plan_app

__all__ = ["plan_app"]
