"""An answer is accepted exactly if the head of the queue can still start at its promised time."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.workloads import CHECK
from tests.share.cases import candidate, host
from windlass.model import PolicyError
from windlass.order.site.reservation import reservation
from windlass.order.site.view import Running, SiteView, Waiting
from windlass.share import Guest, Share, ShareView, Sharing
from windlass.share.lib.first_fit import QuotaChoice, first_fit
from windlass.share.view import Head

#: A waiting job: its cores, and its requested time (s).
_WAITS = st.tuples(st.integers(1, 4), st.sampled_from([1.0, 10.0, 33.0, 1e4]))
#: A running job: its cores, and its expected end (s).
_RUNS = st.tuples(st.integers(1, 4), st.sampled_from([20.0, 40.0, 40.0, 60.0, 90.0]))
_QUOTAS = st.sampled_from([10, 50, 90])


@st.composite
def sites(draw: st.DrawFn) -> tuple[int, ShareView]:
    """Return the number of cores that the head needs, and the view; now is 10 s, and no core is idle."""
    runs = draw(st.lists(_RUNS, min_size=1, max_size=5))
    waits = draw(st.lists(_WAITS, max_size=5))
    need = draw(st.integers(1, sum(cores for cores, _ in runs)))
    hosts = tuple(
        host(job, cores=cores, walltime=end + 5.0, elapsed=15.0, ends=end)
        for job, (cores, end) in enumerate(runs)
    )
    waiting = (
        candidate(100, cores=need, request=50.0),
        *(candidate(101 + job, cores=cores, request=request) for job, (cores, request) in enumerate(waits)),
    )
    site = SiteView(
        10.0,
        processors=20,
        free=0,
        waiting=Waiting.of([100], [0], [need], [50]),
        running=Running.of(range(len(runs)), [cores for cores, _ in runs], [end for _, end in runs]),
    )
    promised = reservation(site)
    assert promised is not None
    return need, ShareView(10.0, hosts, waiting, head=Head(*promised))


def idle_at(view: ShareView, shares: list[Share]) -> int:
    """Return the idle cores at the head's start with these guests; jobs end when they are expected to."""
    assert view.head is not None
    at, cores = view.head.at, {each.job: each.cores for each in view.waiting}
    request = {each.job: each.request for each in view.waiting}
    guests = {share.host: share for share in shares}
    idle = 0
    for each in view.running:
        if each.job not in guests:
            idle += each.cores if each.ends <= at else 0
            continue
        share = guests[each.job]
        # While both run a guest uses as much of its time as its quota, and all of it after its host.
        gone = each.ends + max(0.0, request[share.guest] - (each.ends - view.now) * share.quota / 100.0)
        idle += each.cores - cores[share.guest] if each.ends <= at else 0
        idle += cores[share.guest] if gone <= at else 0
    return idle


def accepted(view: ShareView, shares: list[Share]) -> bool:
    try:
        Sharing(tuple(shares)).check(view)
    except PolicyError as error:
        if "delay the head" not in str(error):
            raise
        return False
    return True


@settings(CHECK, max_examples=400)
@given(sites(), st.data())
def test_the_check_accepts_exactly_the_shares_that_do_not_delay_the_head(
    drawn: tuple[int, ShareView], data: st.DataObject
) -> None:
    need, view = drawn
    assert view.head is not None
    hosts, shares = list(view.running), []
    for each in data.draw(st.permutations(view.waiting[1:])):
        fit = [one for one in hosts if each.cores <= one.cores]
        if fit:
            chosen = data.draw(st.sampled_from(fit))
            hosts.remove(chosen)
            shares.append(Share(chosen.job, each.job, data.draw(_QUOTAS), "drawn"))
    enough = idle_at(view, shares) >= need
    if accepted(view, shares):
        assert enough
    elif sum(one.ends == view.head.at for one in view.running) == 1:
        # Of several jobs that end then, EASY counts the narrowest that suffice, which leaves fewer spare cores.
        assert not enough


@settings(CHECK, max_examples=300)
@given(sites(), _QUOTAS)
def test_first_fit_shares_are_accepted_and_maximal(drawn: tuple[int, ShareView], quota: int) -> None:
    _, view = drawn
    shares = list(first_fit(view, lambda one, each: QuotaChoice(quota, "drawn")))
    assert accepted(view, shares)
    guests, hosts = {share.guest for share in shares}, {share.host for share in shares}
    for each in view.waiting:
        for one in view.running:
            if each.job not in guests and one.job not in hosts and each.cores <= one.cores:
                assert not accepted(view, [*shares, Share(one.job, each.job, quota, "one more")])


def test_the_head_itself_may_be_a_guest_of_any_host() -> None:
    head = candidate(100, cores=8, request=1e9)
    view = ShareView(0.0, (host(1, ends=50.0),), (head,), head=Head(100, 50.0, 0))
    Sharing((Share(1, 100, 10, "drawn"),)).check(view)


def test_a_new_quota_of_a_pair_does_not_count_as_a_new_guest() -> None:
    # It keeps its promised end, whatever its quota becomes.
    pair = host(1, ends=50.0, guest=Guest(candidate(5, request=1e9), 30))
    view = ShareView(0.0, (pair,), (candidate(100, cores=8),), head=Head(100, 50.0, 0))
    Sharing((Share(1, 5, 10, "drawn"),)).check(view)


def test_a_pair_that_could_delay_the_head_is_named() -> None:
    view = ShareView(
        0.0,
        (host(1, ends=50.0), host(2, ends=50.0)),
        (candidate(100, cores=9), candidate(3, cores=4, request=90.0), candidate(4, cores=4, request=90.0)),
        head=Head(100, 50.0, 7),
    )
    shares = (Share(1, 3, 50, "fits beside"), Share(2, 4, 50, "is one too many"))
    Sharing(shares[:1]).check(view)
    with pytest.raises(PolicyError, match="shares job 2 with job 4: it could delay the head of the queue"):
        Sharing(shares).check(view)
    # First fit, given both, leaves one out.
    found = first_fit(view, lambda one, each: QuotaChoice(50, "drawn") if each.job != 100 else None)
    assert [(share.host, share.guest) for share in found] == [(1, 3)]
