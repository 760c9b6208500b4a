"""The router in a real Serve: one private Ray for all tests of this file."""

import math
import os
import signal
import time
import urllib.error
import urllib.request
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest

pytest.importorskip("ray.serve", reason="Ray Serve is not installed (the extra `ray`)")

from ray import serve
from ray.serve.config import RequestRouterConfig

from tests.engines.routers import SECONDS, BrokenRouter, Failing, Hanging, Worker
from windlass.engines.serve.ejection import FAILURES, RequestOutcome
from windlass.engines.serve.router import LearningRouter, pull, rosella
from windlass.engines.slurm.daemons import wait_until
from windlass.model import InputError

pytestmark = pytest.mark.slow
#: Timeout (s), long enough for a machine with three times the work it can do.
LONG = 300.0


@pytest.fixture
def deploy(serve_address):
    """Return a function that deploys workers; delete them at the end."""
    names = []

    def one(name, config, replicas=3, limit=5, of=Worker, given=()):
        deployment = serve.deployment(
            num_replicas=replicas,
            max_ongoing_requests=limit,
            request_router_config=config,
            ray_actor_options={"num_cpus": 0},
            health_check_period_s=1,
            graceful_shutdown_timeout_s=1,
        )(of)
        names.append(name)
        return serve.run(deployment.bind(*given), name=name, route_prefix=f"/{name}")

    yield one
    for name in names:
        serve.delete(name)


def timed(handle, requests, at_once=4):
    """Return each request's answer or exception, and its start and end (s)."""

    def one(_):
        begun = time.monotonic()
        try:
            answer = handle.remote().result(timeout_s=LONG)
        except Exception as error:
            answer = error
        return answer, begun, time.monotonic()

    with ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(one, range(requests)))


def ask(handle, requests, at_once=4):
    """Return each request's answer or exception."""
    return [answer for answer, _, _ in timed(handle, requests, at_once)]


def router_of(handle):
    """The router of this process."""
    return handle._router._asyncio_router.request_router


def loaded(handle):
    """Return the router once its policy is loaded; its first use on a machine compiles it."""
    ask(handle, 1)
    router = router_of(handle)
    assert wait_until(lambda: router._speeds is not None, LONG)
    return router


def speed(answers, rank):
    """Return the lowest recent rate of a busy replica in requests per second, by the client's clock."""
    own = sorted((end, begun) for answer, begun, end in answers if answer.split()[0] == str(rank))
    spent = [end - max(before, begun) for (before, _), (end, begun) in pairwise(own)]
    return min(len(last) / sum(last) for last in (spent[-10:], spent[-20:], spent[-40:]))


@pytest.mark.parametrize("made", [rosella, pull])
def test_all_replicas_are_used_and_their_speeds_learned(deploy, made):
    handle = deploy(f"learns-{made.__name__}", made(seed=1))
    router = loaded(handle)
    assert isinstance(router, LearningRouter)
    answers = timed(handle, 400)
    served = Counter(answer.split()[0] for answer, _, _ in answers)
    speeds = sorted(router._speeds.speeds.values())
    assert set(served) == {"0", "1", "2"}
    assert served["2"] > served["0"]
    for rank, learned in enumerate(speeds):
        # No estimate is above the replica's limit, and none is below the client's measurement.
        assert 0.65 * speed(answers, rank) < learned < 1.35 * 2**rank / SECONDS
    assert wait_until(lambda: set(router._speeds.outstanding.values()) == {0}, LONG)


def test_requests_without_a_free_replica_wait_and_are_served(deploy):
    handle = deploy("full", rosella(), replicas=2, limit=1)
    router = loaded(handle)
    answers = ask(handle, 100, at_once=12)
    assert not [answer for answer in answers if isinstance(answer, Exception)]
    assert {answer.split()[0] for answer in answers} == {"0", "1"}
    # A waiting request polls again after a while, although another request was sent in its place.
    assert wait_until(lambda: not router._waiting, LONG)


def test_http_reaches_all_replicas(serve_address, deploy):
    deploy("http", rosella())

    def one(_):
        with urllib.request.urlopen(f"{serve_address}/http", timeout=LONG) as answer:
            assert answer.status == 200
            return answer.read().decode().split()[0]

    with ThreadPoolExecutor(4) as pool:
        served = Counter(pool.map(one, range(150)))
    assert set(served) == {"0", "1", "2"}


def test_a_killed_replica_loses_its_requests_and_its_successor_is_learned(deploy):
    handle = deploy("killed", rosella(seed=1), replicas=2)
    router = loaded(handle)
    answers = ask(handle, 60)
    before = set(router._speeds.speeds)
    victim = int(answers[-1].split()[1])
    with ThreadPoolExecutor(1) as pool:
        under_way = pool.submit(ask, handle, 200)
        time.sleep(0.5)
        os.kill(victim, signal.SIGKILL)
        answers = under_way.result()
    failed = [answer for answer in answers if isinstance(answer, Exception)]
    # Serve does not repeat a request that a replica had accepted.
    assert len(failed) <= 5, failed
    deadline = time.monotonic() + LONG
    while len(set(router._speeds.speeds) - before) < 1 and time.monotonic() < deadline:
        ask(handle, 20)
    after = set(router._speeds.speeds)
    assert len(after - before) == 1
    assert len(after & before) == 1
    assert wait_until(lambda: set(router._speeds.outstanding) == set(router._replicas), LONG)


def test_a_policy_that_raises_costs_no_request(deploy):
    config = RequestRouterConfig(request_router_class=f"{BrokenRouter.__module__}.{BrokenRouter.__name__}")
    handle = deploy("broken", config)
    router = loaded(handle)
    counted = Counter()
    router._metrics.count_fallback = lambda reason: counted.update([reason])
    answers = ask(handle, 60)
    assert not [answer for answer in answers if isinstance(answer, Exception)]
    assert {answer.split()[0] for answer in answers} == {"0", "1", "2"}
    assert counted["error"] >= 60
    assert router._has_failed


def test_wrong_options_are_errors_early_and_cost_no_request_later(deploy):
    with pytest.raises(InputError, match="unknown option 'probe'"):
        rosella(probe=3)
    config = RequestRouterConfig(
        request_router_class="windlass.engines.serve.router.LearningRouter",
        request_router_kwargs={"probe": 3},
    )
    handle = deploy("wrong", config, replicas=1)
    answers = ask(handle, 10)
    assert not [answer for answer in answers if isinstance(answer, Exception)]
    assert router_of(handle)._speeds is None


def probes(handle, replicas=3):
    """Return the number of benchmark requests that answering replicas report."""
    return sum(handle.probed.remote().result(timeout_s=LONG) for _ in range(4 * replicas))


def test_benchmark_requests_are_sent_only_if_configured_and_are_learned_from(deploy):
    quiet = deploy("quiet", rosella(seed=1))
    loaded(quiet)
    probing = deploy("told", rosella(seed=1, benchmark="probe", benchmark_share=0.5))
    router = loaded(probing)
    ask(probing, 40)
    before = {one: replica.ended for one, replica in router._speeds._replicas.items()}
    # No more client requests from here on, but the ends of the last ones may arrive in the first seconds.
    time.sleep(4)

    def learned_from():
        after = {one: replica.ended for one, replica in router._speeds._replicas.items()}
        return all(after[one] > before[one] for one in before)

    assert wait_until(learned_from, LONG)
    assert set(router._speeds.outstanding.values()) <= {0, 1}
    assert probes(probing) > 0
    assert probes(quiet) == 0


def test_failing_benchmark_requests_are_abandoned_and_harmless(deploy):
    handle = deploy("gives-up", rosella(seed=1, benchmark="no_such_method", benchmark_share=1.0))
    router = loaded(handle)
    assert len(ask(handle, 40)) == 40
    assert wait_until(router._benchmarking.done, LONG)
    assert all(isinstance(answer, str) for answer in ask(handle, 20))


@pytest.mark.parametrize("seconds", [0.0, SECONDS])
def test_a_failing_replica_gets_few_requests(deploy, seconds):
    handle = deploy(f"failing-{seconds > 0}", pull(seed=1), of=Failing, given=(seconds,))
    loaded(handle)
    at_once, begun = 8, time.monotonic()
    answers = timed(handle, 500, at_once)
    elapsed = time.monotonic() - begun
    failed = [answer for answer, _, _ in answers if isinstance(answer, Exception)]
    # Trials come after 1, 3, 7, … s, then once a minute. Requests that are under way at the ejection fail, too.
    trials = math.log2(1.0 + elapsed) + elapsed / 60.0
    # One request before may have failed as well.
    assert FAILURES - 1 <= len(failed) <= FAILURES + at_once + trials + 1


def test_requests_that_clients_cancel_are_not_counted_as_served(deploy, monkeypatch):
    """One replica never answers, and clients give up."""
    handle = deploy("hanging", pull(seed=1), of=Hanging)

    def one(_):
        response = handle.remote()
        try:
            return response.result(timeout_s=3.0)
        except TimeoutError:
            response.cancel()
            return None

    one(0)
    router = router_of(handle)
    assert wait_until(lambda: router._speeds is not None, LONG)
    seen, ended = defaultdict(Counter), router._speeds.ended

    def counted(replica, request, outcome):
        # Others were rejected, or cancelled before a replica accepted them.
        if request in router._speeds._replicas[replica].outstanding:
            seen[replica][outcome] += 1
        ended(replica, request, outcome)

    monkeypatch.setattr(router._speeds, "ended", counted)
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(one, range(60)))
    assert wait_until(lambda: set(router._speeds.outstanding.values()) == {0}, LONG)
    # The other two may be late, but they serve.
    (hanging,) = [outcomes for outcomes in seen.values() if not outcomes[RequestOutcome.SERVED]]
    assert hanging[RequestOutcome.DROPPED] > 0
    total = sum(seen.values(), Counter())
    assert total[RequestOutcome.FAILED] == 0
    # The first request of all may have ended late.
    assert total[RequestOutcome.DROPPED] <= answers.count(None) + 1
    assert total[RequestOutcome.SERVED] >= len(answers) - answers.count(None)


def test_http_errors_of_a_failing_replica_are_noticed(serve_address, deploy):
    handle = deploy("failing-http", pull(), of=Failing)
    loaded(handle)

    def one(_):
        try:
            with urllib.request.urlopen(f"{serve_address}/failing-http", timeout=LONG) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    with ThreadPoolExecutor(4) as pool:
        answers = Counter(pool.map(one, range(300)))
    assert set(answers) <= {200, 500}
    # A router that takes errors for fast completions sends nearly all requests to the failing replica.
    assert answers[500] < 60
