"""One suite that every policy passes, whatever it decides.

:func:`check_policy` runs it on one policy, yours included: ``check_policy(POLICIES, "./mine.py")``. Each check
is a function that returns nothing or raises :class:`CheckError`, which says what is wrong and with what.

- documented: a docstring with a sentence and a runnable example.
- named: its name is what the registry finds it by, and is fit for a command line.
- picklable: a copy decides as the original does.
- seeded: the same seed gives the same decisions, and no global generator is used.
- refuses bad input by name: an unknown parameter is an error that names it.
- same by hand: driven by the simulator and by hand, it decides the same.

:mod:`~windlass.checks.checked` runs them one by one, and says which line fails: ``windlass check``.
:mod:`~windlass.checks.limit` ends a check that loops for ever.
:mod:`~windlass.checks.common` has what every decision asks of a policy, :mod:`~windlass.checks.suite` finds the rest by
the decision's name: :mod:`~windlass.checks.order` (``order.site``, ``order.fleet``), :mod:`~windlass.checks.place`,
:mod:`~windlass.checks.dispatch`, :mod:`~windlass.checks.share`, :mod:`~windlass.checks.admit`,
:mod:`~windlass.checks.scale`, :mod:`~windlass.checks.plan`.
"""

from windlass.checks.common import CheckError
from windlass.checks.suite import check_policy

__all__ = ["CheckError", "check_policy"]
