"""Users, accounts and queues of live jobs as numbers, what users have consumed, and the policy prepared for them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from windlass.drive import Named
from windlass.engines.batch.system import JobOwner
from windlass.model import InputError, Owners
from windlass.order.site.ownership import Owned, half_life_of, placed
from windlass.order.site.view import SiteView, Start
from windlass.policy.registry import capability

_Ints = NDArray[np.int64]
_LN_2 = math.log(2.0)
#: Consumption below this is not saved, processor-seconds.
_LEAST_S = 1e-3
#: Interval between two times that consumption is saved, s.
_SAVE_S = 60.0
#: The name of its text in a journal.
_USE = "use"


@dataclass(frozen=True, slots=True)
class UserUse:
    """Processor-seconds that a user has consumed through an account, decayed; names are empty if unknown."""

    user: str
    account: str
    seconds: float


@dataclass(frozen=True, slots=True)
class SavedUse:
    """The consumption of all users at the Unix time ``at``, s."""

    at: float = -math.inf
    users: tuple[UserUse, ...] = ()


class SavedTexts(Protocol):
    """A journal that also saves texts by name."""

    def text(self, name: str) -> str | None:
        """Return a text; None if there is none of this name."""
        ...

    def save(self, name: str, content: str) -> None:
        """Replace a text; it is on disk when this returns."""
        ...


class LiveOwners:
    """The owners of a live site's jobs, by the numbers that its policy expects.

    A replay knows all users before it begins, and prepares its policy once
    (:func:`~windlass.order.site.ownership.placed`). Here the policy is prepared again whenever a job has a user, an
    account or a queue that no job had before. A user is thus counted from its first job on.

    Parameters
    ----------
    policy
        The order policy; None for a site whose policy does not depend on owners.
    saved
        What an earlier driver counted.
    keep
        Called with the present consumption once a minute, to save it.

    Examples
    --------
    >>> from windlass.order.site.policies.queue import Queue
    >>> owners = LiveOwners(Queue({"multifactor": {"half_life": 60.0}}))
    >>> ann, bob = (owners.enter(JobOwner(name)) for name in ("ann", "bob"))
    >>> owners.count(0.0, np.array([ann]), np.array([2]))
    >>> owners.count(60.0, np.array([ann]), np.array([2]))
    >>> owners.used().round(1).tolist()
    [86.6, 0.0]
    """

    def __init__(
        self,
        policy: Named | None = None,
        saved: SavedUse | None = None,
        keep: Callable[[SavedUse], None] = lambda use: None,
    ) -> None:
        saved = saved or SavedUse()
        self._keep, self._kept = keep, -math.inf
        self._policy = self._ready = policy
        self._half_life = None if policy is None else half_life_of(policy)
        self._pairs: dict[tuple[str, str], int] = {}
        self._users: dict[str, int] = {}
        self._accounts: dict[str, int] = {}
        self._queues: dict[str, int] = {}
        self._used = np.zeros(0)
        self._counted = self._begin = saved.at
        #: Numbers of pairs and queues that the policy was prepared for.
        self._prepared = -1, -1
        self._numbered = Owners.of(0)
        for each in saved.users:
            row = self.enter(JobOwner(each.user, each.account))
            self._used[row] += each.seconds

    @property
    def counts(self) -> bool:
        """True if the policy depends on what users have consumed."""
        return self._half_life is not None

    def enter(self, owner: JobOwner) -> int:
        """Return the row of a user and its account; a new one for those that no job had before."""
        pair = owner.user, owner.account
        if pair not in self._pairs:
            for name, numbers in ((owner.user, self._users), (owner.account, self._accounts)):
                if name:
                    numbers.setdefault(name, len(numbers))
            self._used = np.append(self._used, 0.0)
        return self._pairs.setdefault(pair, len(self._pairs))

    def queue(self, owner: JobOwner) -> int:
        """Return the number of a queue; -1 if it is unknown."""
        return self._queues.setdefault(owner.queue, len(self._queues)) if owner.queue else -1

    def count(self, now: float, rows: _Ints, procs: _Ints) -> None:
        """Count the processors that jobs have held since the last call.

        Parameters
        ----------
        now
            The instant, s.
        rows, procs
            (h,) the row of the owner of each job that held processors since then, and their number.
        """
        past = now - self._counted
        if self._half_life is None or past == 0.0:
            return
        # A clock that was set back goes on from there.
        self._counted = now
        if 0.0 < past < math.inf:
            kept, gained = self._decay(past)
            using = np.bincount(rows, weights=procs, minlength=len(self._used))
            self._used = self._used * kept + using * gained
        if not 0.0 <= now - self._kept < _SAVE_S:
            self.save()

    def save(self) -> None:
        """Save the present consumption, for the next driver; without effect if the policy does not depend on it."""
        if self._half_life is not None and math.isfinite(self._counted):
            self._kept = self._counted
            self._keep(self.saved())

    def save_at_end(self, notify: Callable[[str], None]) -> None:
        """Save the present consumption when a driver ends; an error is passed to ``notify`` as a line."""
        try:
            self.save()
        except InputError as error:
            # At most the use of the last minute is lost.
            notify(str(error))

    def count_before(self, row: int, procs: int, since: float) -> None:
        """Count a job that was not known and has run since ``since`` (s), without what an earlier driver counted."""
        past = self._counted - max(since, self._begin)
        if self._half_life is not None and 0.0 < past < math.inf:
            self._used[row] += procs * self._decay(past)[1]

    def _decay(self, past: float) -> tuple[float, float]:
        """Return what is left of older consumption, and what a processor that was held all the time adds."""
        half = self._half_life
        if half is None or math.isinf(half):
            return 1.0, past
        kept = 2.0 ** (-past / half)
        return kept, (1.0 - kept) * half / _LN_2

    def owners(self, rows: _Ints, queues: _Ints) -> Owners:
        """Return the owners of n jobs by the policy's numbers, from the row of each and the number of its queue."""
        self._prepare()
        return Owners(self._numbered.user[rows], self._numbered.group[rows], queues.copy())

    def used(self) -> NDArray[np.float64]:
        """Return the consumption of each user by the policy's numbers, processor-seconds; see ``SiteView.used``."""
        self._prepare()
        user, entries = self._numbered.user, self._numbered.entries
        at = np.where(user < 0, entries - 1, user)
        return np.asarray(np.bincount(at, weights=self._used, minlength=entries), np.float64)

    def order(self) -> Any:
        """Return the policy that a loop must call for views with these numbers."""
        prepares = self._policy is not None and capability(self._policy, Owned) is not None
        return PreparedOrder(self._policy, self) if prepares else self._policy

    def ready(self) -> Any:
        """Return the policy, prepared for the owners of all jobs until now."""
        self._prepare()
        return self._ready

    def saved(self) -> SavedUse:
        """Return the present consumption, for the next driver."""
        found = zip(self._pairs, self._used.tolist(), strict=True)
        users = tuple(UserUse(*pair, seconds) for pair, seconds in found if seconds >= _LEAST_S)
        return SavedUse(self._counted, users)

    def _prepare(self) -> None:
        size = len(self._pairs), len(self._queues)
        if size == self._prepared:
            return
        self._prepared = size
        numbers = [(self._users.get(user, -1), self._accounts.get(name, -1)) for user, name in self._pairs]
        user, account = zip(*numbers, strict=True) if numbers else ((), ())
        self._numbered = Owners.of(len(numbers), user, account)
        if self._policy is not None:
            policy: Any = self._policy
            self._ready, self._numbered = placed(policy, self._numbered, tuple(self._queues))


def live_owners(policy: Named, journal: SavedTexts) -> LiveOwners:
    """Return the owners of a site's jobs, with what earlier drivers counted and saved in a journal.

    Raises
    ------
    InputError
        What the journal has is invalid.
    """
    text = journal.text(_USE)
    saved = None if text is None else parse_use(text)
    return LiveOwners(policy, saved, lambda use: journal.save(_USE, use_text(use)))


def use_text(use: SavedUse) -> str:
    """Return consumption as a text.

    >>> parse_use(use_text(SavedUse(5.0, (UserUse("ann", "lab", 7.5),)))).users
    (UserUse(user='ann', account='lab', seconds=7.5),)
    """
    return json.dumps(
        {"at": use.at, "users": [[each.user, each.account, each.seconds] for each in use.users]}
    )


def parse_use(text: str) -> SavedUse:
    """Parse a text of :func:`use_text`.

    Raises
    ------
    InputError
        The text is invalid.
    """
    try:
        tree = json.loads(text)
        users = tuple(UserUse(str(user), str(account), float(used)) for user, account, used in tree["users"])
        found = SavedUse(float(tree["at"]), users)
        if not all(0.0 <= each < math.inf for each in (found.at, *(each.seconds for each in users))):
            raise ValueError("a number is negative or not finite")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(f"the journal: not saved use of users: {type(error).__name__}: {error}") from error
    return found


class PreparedOrder:
    """An order policy that is prepared for the owners of a live site's jobs before each decision.

    Parameters
    ----------
    policy
        The policy.
    owners
        The owners of the site's jobs.
    """

    def __init__(self, policy: Any, owners: LiveOwners) -> None:
        self.name: str = policy.name
        #: The policy that error messages name.
        self.represents = policy
        self._owners = owners

    def decide(self, view: SiteView) -> Start:
        """Return the prepared policy's decision."""
        found: Start = self._owners.ready().decide(view)
        return found
