"""Slurm's multifactor priority: age, decayed fair share, size and quality of service, each with a weight."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from windlass.model import Owners
from windlass.order.site.compiled import QUEUE, user_of
from windlass.order.site.lib.accounts import priorities_of, users_by_account

_DAY: Final = 86400.0
#: Indices into ``given``.
_AGE, _FAIR, _SIZE, _MAX_AGE, _TREE, _DAMPENING, _SMALL, _NUMBERS = range(8)
#: Further indices, once the owners of jobs are known: the weight of QOS, whether users are in accounts, and the number
#: of users; then the account of each user, and the factor of each queue.
_QOS, _NESTED, _USERS, _FIRST = range(_NUMBERS, _NUMBERS + 4)


class Multifactor:
    """Slurm's multifactor: the greatest weighted sum of age, fair share and size goes first.

    Each factor is between 0 and 1.

    - *Age*: the wait divided by ``max_age``, at most 1.
    - *Fair share*: users have equal shares, and their use is processor-seconds decayed by ``half_life``, those of
      running jobs counted up to now. With Fair Tree, Slurm's default, users are ranked by share divided by use, and
      the factor is the rank from below divided by the number of users; tied users get the higher rank. Without it,
      the factor is 2^(-u / s / d), where u is the user's part of all use, s the user's share and d the dampening.
    - *Size*: the job's processors divided by the site's; 1 minus that with ``favor_small``.
    - *QOS*: the priority of the job's quality of service divided by the greatest of any.

    With ``accounts``, users belong to the accounts that the log records as groups, and the tree has two levels:
    accounts have equal shares of the site, and users equal shares of their account. A user of two accounts counts as
    one user in each. Fair Tree then ranks accounts, and users within them: all users of an account with less use go
    before all of an account with more, and tied accounts are ranked as one. The classic factor takes the *effective*
    use, u + (a - u) / n, where a is the account's part of all use and n counts its users. Otherwise users are siblings
    in one tree.

    Use decays continuously here, whereas Slurm decays it every PriorityCalcPeriod (five minutes), and sums are not
    rounded to whole numbers. Factors of partitions, associations and other resources are not modelled. Equal sums keep
    the order of submission. Jobs without a user count as one more user, in an account of its own.

    Parameters
    ----------
    weight_age, weight_fairshare, weight_job_size
        PriorityWeightAge, PriorityWeightFairshare and PriorityWeightJobSize; the defaults are those of the example in
        Slurm's documentation.
    half_life
        PriorityDecayHalfLife, s; infinity for none, which is Slurm's 0.
    max_age
        PriorityMaxAge, s.
    fair_tree
        Whether PriorityFlags has no NO_FAIR_TREE.
    dampening
        FairShareDampeningFactor, which Fair Tree does not use.
    favor_small
        PriorityFavorSmall.
    accounts
        Whether users belong to accounts.
    weight_qos
        PriorityWeightQOS.
    qos
        The priority of each QOS, which a log records as the queue, as in ``"normal=10 high=100"``; 0 for others.

    Raises
    ------
    ValueError
        A number is out of bounds, or ``qos`` is not a list of priorities.

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
        accounts: bool = False,
        weight_qos: float = 0.0,
        qos: str = "",
    ) -> None:
        weights = {
            "weight_age": weight_age,
            "weight_fairshare": weight_fairshare,
            "weight_job_size": weight_job_size,
            "weight_qos": weight_qos,
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

        self._accounts, self._weight_qos, self._qos = bool(accounts), float(weight_qos), priorities_of(qos)

    def placed(self, owners: Owners, queues: Sequence[str]) -> tuple[NDArray[np.float64], Owners]:
        """Return the numbers for jobs with known owners, and the users renumbered.

        Parameters
        ----------
        owners
            Users, groups and queues of the jobs.
        queues
            Names of their queues, by number.

        Examples
        --------
        >>> owners = Owners.of(3, user=[0, 0, 1], group=[1, 0, 1], queue=[0, 1, 1])
        >>> given, found = Multifactor(accounts=True, weight_qos=5, qos="a=1 b=4").placed(owners, ["a", "b"])
        >>> found.user.tolist(), given[7:].tolist()
        ([1, 0, 2], [5.0, 1.0, 3.0, 0.0, 1.0, 1.0, 0.25, 1.0])
        """
        account, nested = np.zeros(owners.entries), self._accounts and bool((owners.group >= 0).any())
        if nested:
            owners, account = users_by_account(owners)
        greatest = max(self._qos.values(), default=0.0)
        factors = [self._qos.get(name, 0.0) / greatest if greatest > 0 else 0.0 for name in queues]
        head = [self._weight_qos, float(nested), float(len(account))]
        return np.concatenate((self.given, head, account, factors)), owners

    @staticmethod
    def score(view, row):
        """Return the weighted sum, negated."""
        given, used = view.given, view.used
        age = min(1.0, max(0.0, view.now - view.submit[row]) / given[_MAX_AGE])
        size = min(1.0, view.procs[row] / view.processors)
        if given[_SMALL] != 0.0:
            size = 1.0 - size
        own, users = user_of(view.owner, row), len(used)
        if own < 0:
            own += users
        known = len(given) > _NUMBERS and given[_USERS] == users
        nested = known and given[_NESTED] != 0.0
        # Use by the job's account and its number of users; without accounts, all users are in one.
        account_use, account_users, total_use, accounts = 0.0, 0, 0.0, 0
        for user in range(users):
            total_use += used[user]
            if not nested or given[_FIRST + user] == given[_FIRST + own]:
                account_use += used[user]
                account_users += 1
            if not nested or user == 0 or given[_FIRST + user] != given[_FIRST + user - 1]:
                accounts += 1
        if given[_TREE] != 0.0:
            behind, first = 0, 0
            while first < users:
                last, other_use = first, 0.0
                while last < users and (not nested or given[_FIRST + last] == given[_FIRST + first]):
                    other_use += used[last]
                    last += 1
                for user in range(first, last):
                    # Within tied accounts, users are ranked by their part of their own account's use.
                    level = (
                        other_use == account_use
                        and used[user] * ((last - first) / account_users) >= used[own]
                    )
                    behind += other_use > account_use or level
                first = last
            fair = behind / users
        elif total_use > 0.0:
            part, shares = used[own] / total_use, users
            if nested:
                part, shares = (
                    part + (account_use / total_use - part) / account_users,
                    accounts * account_users,
                )
            fair = 2.0 ** (-part * shares / given[_DAMPENING])
        else:
            fair = 1.0
        found = given[_AGE] * age + given[_FAIR] * fair + given[_SIZE] * size
        if known:
            queue = view.owner[QUEUE, row]
            if queue >= 0 and _FIRST + users + queue < len(given):
                found += given[_QOS] * given[_FIRST + users + queue]
        return -found
