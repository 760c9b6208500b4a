"""Effects of limits and weights on real processes, and their measurements.

Both processes are pinned to one core. Whatever else runs there takes time from both, so what is compared is the
relation of one to the other, over an interval that is long against the kernel's periods.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import pytest

from tests.engines.linux.conftest import HOG
from windlass.engines.linux.groups import JobGroups
from windlass.engines.linux.measure import Meter, Spent, spent
from windlass.engines.slurm.daemons import wait_until

pytestmark = pytest.mark.slow

#: Seconds over which shares are compared.
INTERVAL = 4.0
#: Timeout (s) on a machine with other work.
PATIENCE = 300.0


@pytest.fixture
def pair(real: JobGroups, started: Callable[..., int]) -> tuple[int, int]:
    """Two hogs on one core, each in a group: jobs 1 and 2."""
    core = min(os.sched_getaffinity(0))
    pids = started(HOG), started(HOG)
    for job, pid in zip((1, 2), pids, strict=True):
        os.sched_setaffinity(pid, {core})
        real.create(job)
        assert real.take(job, lambda pid=pid: [pid]) == 1
    return pids


def measured(groups: JobGroups, pids: tuple[int, int]) -> tuple[Spent, Spent]:
    meters = [
        Meter(lambda pid=pid: [pid], time.monotonic, throttled=lambda job=job: groups.usage(job).throttled)
        for job, pid in zip((1, 2), pids, strict=True)
    ]
    before = [meter.sample() for meter in meters]
    time.sleep(INTERVAL)
    first, second = (spent(start, meter.sample()) for start, meter in zip(before, meters, strict=True))
    return first, second


def share(first: Spent, second: Spent) -> float:
    """Return the first one's share of the CPU time of both."""
    return first.cpu / (first.cpu + second.cpu)


@pytest.mark.parametrize("quota", [0.25, 0.5, 0.75])
def test_shares_follow_limits(real: JobGroups, pair: tuple[int, int], quota: float) -> None:
    real.limit(1, quota)
    real.limit(2, 1 - quota)
    for part, found in zip((quota, 1 - quota), measured(real, pair), strict=True):
        # A limit only cuts time above it; with other load, a process may get less than its limit.
        assert found.cpu < (part + 0.12) * found.seconds
        assert found.cpu + found.waited > (part - 0.12) * found.seconds


@pytest.mark.parametrize("quota", [0.25, 0.5, 0.75])
def test_shares_follow_weights_without_throttling(
    real: JobGroups, pair: tuple[int, int], quota: float
) -> None:
    real.weigh(1, quota)
    real.weigh(2, 1 - quota)
    first, second = measured(real, pair)
    assert share(first, second) == pytest.approx(quota, abs=0.12)
    assert first.throttled == second.throttled == 0.0
    # Each waits while the other runs: a limit hides this, contention shows it.
    assert first.waited > 0.5 * second.cpu
    assert second.waited > 0.5 * first.cpu


def test_a_host_is_not_throttled_and_its_guest_is_limited(real: JobGroups, pair: tuple[int, int]) -> None:
    real.weigh(1, 0.7)
    real.weigh(2, 0.3)
    real.limit(2, 0.3)
    host, guest = measured(real, pair)
    assert share(host, guest) == pytest.approx(0.7, abs=0.12)
    assert host.throttled == 0.0


def test_a_stopped_guest_leaves_the_core_to_its_host_and_resumes_on_release(
    real: JobGroups, pair: tuple[int, int]
) -> None:
    real.limit(2, 0)
    time.sleep(1.0)  # a period that has begun is used up first
    host, guest = measured(real, pair)
    assert guest.cpu < 0.05 * host.cpu
    assert guest.throttled > 0.0
    real.release(2)
    real.release(1)
    core = min(os.sched_getaffinity(0))
    meter = Meter(lambda: [pair[1]], time.monotonic)
    before = meter.sample().cpu
    assert wait_until(lambda: meter.sample().cpu >= before + 0.5, PATIENCE)
    assert os.sched_getaffinity(pair[1]) == {core}


def test_the_group_s_account_equals_that_of_its_processes(real: JobGroups, pair: tuple[int, int]) -> None:
    usage = real.usage(1)
    if usage.cpu != usage.cpu:
        pytest.skip("this hierarchy does not account for CPU time")
    first, _ = measured(real, pair)
    assert real.usage(1).cpu - usage.cpu >= 0.9 * first.cpu
