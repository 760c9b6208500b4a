"""Views name the user of each job if known."""

import numpy as np
import pytest

from windlass.model import JobTable, Owners
from windlass.order.site.reservation import after
from windlass.order.site.view import Running, SiteView, Start, Waiting
from windlass.sim import replay

JOBS = JobTable.of(submit=[0, 0, 1, 1], run=[5, 9, 5, 5], procs=[2, 2, 3, 1], job=[7, 9, 8, 6])
USERS = np.array([30, 10, 20, 10])


class Recorder:
    """Starts the first job that fits, and records the users in its views."""

    name = "seen"

    def __init__(self):
        self.users = {}

    def decide(self, view):
        for part in (view.waiting, view.running):
            self.users |= dict(zip(part.job.tolist(), part.user.tolist(), strict=True))
        fits = np.flatnonzero(view.waiting.procs <= view.free)[:1]
        return Start(tuple(view.waiting.job[fits].tolist()), "fits")


@pytest.mark.parametrize("users", [USERS, None])
def test_views_name_the_user_of_each_job(users):
    policy = Recorder()
    replay(JOBS, 4, policy, owners=None if users is None else Owners.of(4, user=users))
    known = [-1] * 4 if users is None else users.tolist()
    assert policy.users == dict(zip(JOBS.job.tolist(), known, strict=True))


def test_users_stay_with_their_jobs():
    running = Running.of([1, 2], [2, 2], [90, 50], user=[5, 6])
    assert dict(zip(running.job.tolist(), running.user.tolist(), strict=True)) == {1: 5, 2: 6}
    waiting = Waiting.of([3, 4], [0, 0], [1, 1], [60, 10], user=[7, 8])
    then = after(SiteView(5.0, 8, 4, waiting, running), Start((4,), "fits"))
    assert dict(zip(then.running.job.tolist(), then.running.user.tolist(), strict=True)) == {1: 5, 2: 6, 4: 8}
    assert then.waiting.user.tolist() == [7]


def test_users_are_unknown_by_default():
    assert Waiting.of([3, 4], [0, 0], [1, 1], [60, 10]).user.tolist() == [-1, -1]
    assert Running.of().user.tolist() == []
