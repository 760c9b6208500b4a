"""The router in a real Serve: one private Ray for all tests of this file."""

import os
import signal
import time
import urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("ray.serve", reason="Ray Serve is not installed (the extra `ray`)")

from ray import serve
from ray.serve.config import RequestRouterConfig

from tests.engines.routers import SECONDS, BrokenRouter, Worker
from windlass.engines.serve.router import LearningRouter, pull, rosella
from windlass.model import InputError

pytestmark = pytest.mark.slow


def deploy(name, config, replicas=3, limit=5):
    deployment = serve.deployment(
        num_replicas=replicas,
        max_ongoing_requests=limit,
        request_router_config=config,
        ray_actor_options={"num_cpus": 0},
        health_check_period_s=1,
        graceful_shutdown_timeout_s=1,
    )(Worker)
    return serve.run(deployment.bind(), name=name, route_prefix=f"/{name}")


def ask(handle, requests, at_once=4):
    """Who served each request; the exception where one failed."""

    def one(_):
        try:
            return handle.remote().result(timeout_s=30)
        except Exception as error:
            return error

    with ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(one, range(requests)))


def router_of(handle):
    """The router of this process."""
    return handle._router._asyncio_router.request_router


def loaded(handle):
    """The router, once its policy is loaded; a first use on a machine compiles it."""
    ask(handle, 1)
    router = router_of(handle)
    deadline = time.monotonic() + 90
    while router._speeds is None and time.monotonic() < deadline:
        time.sleep(0.1)
    assert router._speeds is not None
    return router


@pytest.mark.parametrize("made", [rosella, pull])
def test_replicas_are_all_used_and_their_speeds_learned(serve_address, made):
    handle = deploy(f"learns-{made.__name__}", made(seed=1))
    router = loaded(handle)
    assert isinstance(router, LearningRouter)
    served = Counter(answer.split()[0] for answer in ask(handle, 400))
    speeds = sorted(router._speeds.speeds.values())
    assert set(served) == {"0", "1", "2"}
    assert served["2"] > served["0"]
    # What a request costs besides its work makes fast replicas look slower than they are.
    expected = [1 / (SECONDS / 2**rank + 0.005) for rank in range(3)]
    assert speeds == pytest.approx(expected, rel=0.35)
    deadline = time.monotonic() + 10
    while any(router._speeds.outstanding.values()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert set(router._speeds.outstanding.values()) == {0}


def test_requests_that_no_replica_has_room_for_wait_and_are_served(serve_address):
    handle = deploy("full", rosella(), replicas=2, limit=1)
    router = loaded(handle)
    answers = ask(handle, 100, at_once=12)
    assert not [answer for answer in answers if isinstance(answer, Exception)]
    assert {answer.split()[0] for answer in answers} == {"0", "1"}
    assert not router._waiting
    serve.delete("full")


def test_http_reaches_all_replicas(serve_address):
    deploy("http", rosella())

    def one(_):
        with urllib.request.urlopen(f"{serve_address}/http", timeout=30) as answer:
            assert answer.status == 200
            return answer.read().decode().split()[0]

    with ThreadPoolExecutor(4) as pool:
        served = Counter(pool.map(one, range(150)))
    assert set(served) == {"0", "1", "2"}
    serve.delete("http")


def test_a_killed_replica_loses_what_it_held_and_the_new_one_is_learned(serve_address):
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
    deadline = time.monotonic() + 40
    while len(set(router._speeds.speeds) - before) < 1 and time.monotonic() < deadline:
        ask(handle, 20)
    after = set(router._speeds.speeds)
    assert len(after - before) == 1
    assert len(after & before) == 1
    assert set(router._speeds.outstanding) == set(router._replicas)
    serve.delete("killed")


def test_a_policy_that_raises_costs_no_request(serve_address):
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
    serve.delete("broken")


def test_wrong_options_are_said_before_and_cost_no_request_after(serve_address):
    with pytest.raises(InputError, match="'probe' is no option"):
        rosella(probe=3)
    config = RequestRouterConfig(
        request_router_class="windlass.engines.serve.router.LearningRouter",
        request_router_kwargs={"probe": 3},
    )
    handle = deploy("wrong", config, replicas=1)
    answers = ask(handle, 10)
    assert not [answer for answer in answers if isinstance(answer, Exception)]
    assert router_of(handle)._speeds is None
    serve.delete("wrong")


def probes(handle, replicas=3):
    """Benchmark requests in all, as far as replicas that answered tell."""
    return sum(handle.probed.remote().result(timeout_s=30) for _ in range(4 * replicas))


def test_benchmark_requests_are_sent_only_if_told_and_are_learned_from(serve_address):
    quiet = deploy("quiet", rosella(seed=1))
    loaded(quiet)
    told = deploy("told", rosella(seed=1, benchmark="probe", benchmark_share=0.5))
    router = loaded(told)
    ask(told, 40)
    before = {one: replica.ended for one, replica in router._speeds._replicas.items()}
    # No request of ours from here on, but the ends of the last ones may be heard of in the first seconds.
    deadline = time.monotonic() + 60
    time.sleep(4)
    after = {one: replica.ended for one, replica in router._speeds._replicas.items()}
    while any(after[one] <= before[one] for one in before) and time.monotonic() < deadline:
        time.sleep(0.1)
        after = {one: replica.ended for one, replica in router._speeds._replicas.items()}
    assert all(after[one] > before[one] for one in before)
    assert set(router._speeds.outstanding.values()) <= {0, 1}
    assert probes(told) > 0
    assert probes(quiet) == 0


def test_benchmark_requests_that_fail_are_given_up_and_cost_nothing(serve_address):
    handle = deploy("gives-up", rosella(seed=1, benchmark="no_such_method", benchmark_share=1.0))
    router = loaded(handle)
    assert len(ask(handle, 40)) == 40
    deadline = time.monotonic() + 20
    while not router._benchmarking.done() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert router._benchmarking.done()
    assert all(isinstance(answer, str) for answer in ask(handle, 20))
