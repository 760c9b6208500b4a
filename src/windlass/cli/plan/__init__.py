"""``windlass plan``: configurations of streaming queries, and the clusters where they run.

- :mod:`~windlass.cli.plan.group`: the commands and their options.
- :mod:`~windlass.cli.plan.solve`: ``solve``; :mod:`~windlass.cli.plan.output`: its tables and JSON.
- :mod:`~windlass.cli.plan.profile`: ``profile``; :mod:`~windlass.cli.plan.profile_output`: its tables and JSON;
  :mod:`~windlass.cli.plan.plots`: its page.
- :mod:`~windlass.cli.plan.clip`: ``clip``.
- :mod:`~windlass.cli.plan.run`: ``run``; :mod:`~windlass.cli.plan.measured`: its table and JSON.
"""

from windlass.cli.plan.group import plan_app

__all__ = ["plan_app"]
