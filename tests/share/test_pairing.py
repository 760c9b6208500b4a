"""Pairs begin, change and end the same way on every engine."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.share.cases import candidate, host, views
from windlass.model import PolicyError
from windlass.share import POLICIES, Guest, Share, ShareView, Sharing
from windlass.share.pairing import carried_out, guest_ended, host_ended


@given(views(), st.sampled_from(POLICIES.names()), st.integers(0, 99))
def test_nobody_is_lost_and_nobody_is_there_twice(view, name, seed):
    answer = POLICIES.make(name, np.random.default_rng(seed)).decide(view)
    hosts = carried_out(view, answer)
    guests = [one.guest.job.job for one in hosts if one.guest is not None]
    assert [one.job for one in hosts] == [one.job for one in view.running]
    assert guests == [share.guest for one in hosts for share in answer.shares if share.host == one.job]
    for one in hosts:
        if one.guest is not None:
            assert one.guest.job.cores <= one.cores
            assert one.memory_free >= 0.0
    left = tuple(each for each in view.waiting if each.job not in guests)
    # A second answer over what is left shares nothing with whom shares already.
    then = ShareView(view.now, hosts, left)
    carried_out(then, POLICIES.make(name, np.random.default_rng(seed)).decide(then))


def test_an_answer_that_is_wrong_in_one_place_is_not_carried_out_at_all():
    view = ShareView(0.0, (host(1), host(3)), (candidate(2), candidate(4, cores=9)))
    with pytest.raises(PolicyError, match="job 3 with job 4: needs 9 cores"):
        carried_out(view, Sharing((Share(1, 2, 30, "x"), Share(3, 4, 30, "x"))))


def test_a_quota_changes_and_its_guest_stays():
    # Would catch a guest that is looked for among those that wait.
    pair = host(1, guest=Guest(candidate(5), 30, note=(1.0,)))
    (after,) = carried_out(ShareView(0.0, (pair,), ()), Sharing((Share(1, 5, 0, "slow"),)))
    assert after.guest == Guest(candidate(5), 0)


def test_when_the_guest_ends_another_can_come():
    pair = host(1, guest=Guest(candidate(5, memory=50e9), 30))
    alone = guest_ended(pair)
    assert not pair.fits(candidate(6))
    assert alone.fits(candidate(6, memory=50e9))


@pytest.mark.parametrize("quota", [0, 30])
def test_when_the_host_ends_first_the_guest_keeps_its_own_cores_and_memory(quota):
    # Would catch a guest that inherits its host's cores, or a stopped one that is forgotten.
    pair = host(1, cores=8, guest=Guest(candidate(5, cores=3, memory=4e9, request=100.0, cpu=20.0), quota))
    left = host_ended(pair, ran=25.0)
    assert left is not None
    assert (left.job, left.cores, left.memory, left.walltime, left.elapsed) == (5, 3, 4e9, 100.0, 25.0)
    assert (left.cpu, left.guest) == (20.0, None)
    assert left.fits(candidate(6, cores=3, memory=0.0))
    assert not left.fits(candidate(6, cores=3, memory=1.0))


def test_a_host_without_a_guest_leaves_nothing():
    assert host_ended(host(1), ran=0.0) is None


def test_of_a_guest_nobody_measured_the_worst_is_thought():
    left = host_ended(host(1, guest=Guest(candidate(5, cpu=math.nan), 30)), ran=0.0)
    assert left is not None
    assert (left.cpu, left.memory_free) == (100.0, 0.0)
