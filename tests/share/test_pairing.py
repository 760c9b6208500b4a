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
def test_every_job_is_kept_exactly_once(view, name, seed):
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
    # A second answer over the remaining jobs changes no existing pair.
    then = ShareView(view.now, hosts, left)
    carried_out(then, POLICIES.make(name, np.random.default_rng(seed)).decide(then))


def test_an_answer_with_one_error_is_not_carried_out():
    view = ShareView(0.0, (host(1), host(3)), (candidate(2), candidate(4, cores=9)))
    with pytest.raises(PolicyError, match="job 3 with job 4: needs 9 cores"):
        carried_out(view, Sharing((Share(1, 2, 30, "x"), Share(3, 4, 30, "x"))))


def test_a_changed_quota_keeps_the_guest():
    # Would catch a search for the guest among waiting jobs.
    pair = host(1, guest=Guest(candidate(5), 30, note=(1.0,)))
    (after,) = carried_out(ShareView(0.0, (pair,), ()), Sharing((Share(1, 5, 0, "slow"),)))
    # Unknown values are NaN, which no value is equal to.
    assert repr(after.guest) == repr(Guest(candidate(5), 0))


def test_after_the_guest_ends_another_fits():
    pair = host(1, guest=Guest(candidate(5, memory=50e9), 30))
    alone = guest_ended(pair)
    assert not pair.fits(candidate(6))
    assert alone.fits(candidate(6, memory=50e9))


@pytest.mark.parametrize("quota", [0, 30])
def test_after_the_host_ends_the_guest_keeps_its_own_cores_and_memory(quota):
    # Would catch a guest that inherits its host's cores, or a stopped one that is forgotten.
    pair = host(1, cores=8, guest=Guest(candidate(5, cores=3, memory=4e9, request=100.0, cpu=20.0), quota))
    left = host_ended(pair, ran=25.0)
    assert left is not None
    assert (left.job, left.cores, left.memory, left.walltime, left.elapsed) == (5, 3, 4e9, 100.0, 25.0)
    assert (left.cpu, left.guest) == (20.0, None)
    assert left.fits(candidate(6, cores=3, memory=0.0))
    assert not left.fits(candidate(6, cores=3, memory=1.0))


def test_the_end_of_a_host_without_a_guest_leaves_no_job():
    assert host_ended(host(1), ran=0.0) is None


def test_an_unmeasured_guest_counts_as_using_everything():
    left = host_ended(host(1, guest=Guest(candidate(5, cpu=math.nan), 30)), ran=0.0)
    assert left is not None
    assert (left.cpu, left.memory_free) == (100.0, 0.0)
