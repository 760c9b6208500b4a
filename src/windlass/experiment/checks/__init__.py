"""The suite of checks that every policy must pass, for all decisions.

:func:`check_policy` runs it on one policy, yours included: ``check_policy(POLICIES, "./mine.py")``. Each check
is a function that returns nothing or raises :class:`CheckError`, whose message names the policy and the problem.

- documented: a docstring with a sentence and a runnable example.
- named: the registry finds the policy by its name, which is fit for a command line.
- picklable: a copy decides as the original does.
- seeded: the same seed gives the same decisions, and no global generator is used.
- refuses unknown parameter: an unknown parameter is an error that names it.
- same by decide: the simulator's compiled path and ``decide`` give the same decisions.

:mod:`~windlass.experiment.checks.validation` runs them one by one, and names the line that fails: ``windlass check``.
:mod:`~windlass.experiment.checks.common` has the checks of a policy's class, and
:mod:`~windlass.experiment.checks.generic` those of its decisions, each written once over the
:mod:`~windlass.experiment.checks.cases` of a decision: how its policies are made, called and compared.
:mod:`~windlass.experiment.checks.capabilities` has checks of what a policy may offer beyond deciding.
:mod:`~windlass.experiment.checks.suite` finds the module of a decision, which has its ``CASES`` and all its ``CHECKS``:
:mod:`~windlass.experiment.checks.order` (``order.site``, ``order.fleet``), :mod:`~windlass.experiment.checks.place`,
:mod:`~windlass.experiment.checks.dispatch`, :mod:`~windlass.experiment.checks.share`,
:mod:`~windlass.experiment.checks.admit`, :mod:`~windlass.experiment.checks.scale`,
:mod:`~windlass.experiment.checks.plan`.
"""

from windlass.experiment.checks.common import CheckError
from windlass.experiment.checks.suite import check_policy

__all__ = ["CheckError", "check_policy"]
