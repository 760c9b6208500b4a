"""Slurm's multifactor priority: age, decayed fair share and size, each with a weight."""

from __future__ import annotations

import math
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from windlass.order.site.compiled import USER

_DAY: Final = 86400.0
#: Places in ``given``.
_AGE, _FAIR, _SIZE, _MAX_AGE, _TREE, _DAMPENING, _SMALL, _NUMBERS = range(8)


class Multifactor:
    """Slurm's multifactor: the greatest weighted sum of age, fair share and size goes first.

    Each factor is between 0 and 1.

    - *Age*: the wait over ``max_age``, at most 1.
    - *Fair share*: users have equal shares, and their use is processor-seconds that halve in ``half_life``, those of
      running jobs counted up to now. With Fair Tree, which is Slurm's default, users are ranked by share over use, and
      the factor is the rank from below over the number of users; users who are level have the higher rank. Without it,
      the factor is 2^(-u / s / d), where u is the user's part of all use, s the user's share and d the dampening.
    - *Size*: the processors over those of the site, or with ``favor_small`` 1 less that.

    Use is decayed without steps here, where Slurm decays it every PriorityCalcPeriod (five minutes), and sums are not
    rounded to whole numbers. Factors of partitions, QOS, associations and other resources are not in it, nor are
    accounts: users are siblings in one tree. Of one sum, who came first goes first. Jobs of nobody are one user more.

    Parameters
    ----------
    weight_age, weight_fairshare, weight_job_size
        PriorityWeightAge, PriorityWeightFairshare and PriorityWeightJobSize; by default those of the example in Slurm's
        documentation.
    half_life
        PriorityDecayHalfLife, s; infinity for none, which is Slurm's 0.
    max_age
        PriorityMaxAge, s.
    fair_tree
        Whether PriorityFlags has no NO_FAIR_TREE.
    dampening
        FairShareDampeningFactor, which Fair Tree does not know.
    favor_small
        PriorityFavorSmall.

    Raises
    ------
    ValueError
        A number is out of its bounds.

    Source: Slurm's documentation, "Multifactor Priority Plugin", "Fair Tree Fairshare Algorithm" and "Classic Fairshare
    Algorithm".

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> priority = Multifactor(weight_age=0, weight_fairshare=100, weight_job_size=0)
    >>> view = SimpleNamespace(now=9.0, submit=[0.0], procs=[4], processors=8, owner=np.array([[1]]),
    ...     used=np.array([5.0, 7.0]), given=priority.given)
    >>> float(Multifactor.score(view, 0))
    -50.0
    """

    name: ClassVar[str] = "multifactor"

    def __init__(
        self,
        weight_age: float = 1000.0,
        weight_fairshare: float = 10000.0,
        weight_job_size: float = 1000.0,
        half_life: float = 7 * _DAY,
        max_age: float = 7 * _DAY,
        fair_tree: bool = True,
        dampening: float = 1.0,
        favor_small: bool = False,
    ) -> None:
        weights = {
            "weight_age": weight_age,
            "weight_fairshare": weight_fairshare,
            "weight_job_size": weight_job_size,
        }
        for name, value in weights.items():
            if not 0 <= value < math.inf:
                raise ValueError(f"{name} is {value}, expected a number of 0 or more")
        for name, value in {"half_life": half_life, "max_age": max_age, "dampening": dampening}.items():
            if not value > 0:
                raise ValueError(f"{name} is {value}, expected a number above 0")
        self.half_life = float(half_life)
        self.given: NDArray[np.float64] = np.zeros(_NUMBERS)
        self.given[[_AGE, _FAIR, _SIZE]] = weight_age, weight_fairshare, weight_job_size
        self.given[[_MAX_AGE, _DAMPENING]] = max_age, dampening
        self.given[[_TREE, _SMALL]] = fair_tree, favor_small

    @staticmethod
    def score(view, row):
        """The sum, negated."""
        given, used = view.given, view.used
        age = min(1.0, max(0.0, view.now - view.submit[row]) / given[_MAX_AGE])
        own, users, whole, behind = used[view.owner[USER, row]], len(used), 0.0, 0
        for user in range(users):
            whole += used[user]
            behind += used[user] >= own
        if given[_TREE] != 0.0:
            fair = behind / users
        elif whole > 0.0:
            fair = 2.0 ** (-own / whole * users / given[_DAMPENING])
        else:
            fair = 1.0
        size = min(1.0, view.procs[row] / view.processors)
        if given[_SMALL] != 0.0:
            size = 1.0 - size
        return -(given[_AGE] * age + given[_FAIR] * fair + given[_SIZE] * size)
