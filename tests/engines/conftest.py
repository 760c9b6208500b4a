"""One private Ray for the tests of the live engines, removed completely afterwards and closed to other users."""

import os

import pytest

from tests.started import mark, polling_for_listeners

#: On all that these tests start, directly or as daemons in the background.
_STARTED = mark()
#: Ray lowers the priority of its workers; here they run next to other tests and must make progress.
os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112 - Ray reads it as it is written here
#: Each replica of Ray Serve listens for other deployments at all addresses (Ray 2.60), and has no option for that.
_SERVES_OWN = "ray::ServeRepl"


def pytest_collection_modifyitems(items):
    """Mark slow engine tests as live: `.ci/run` may repeat a failed one, and reports it."""
    for item in items:
        if "tests/engines/" in item.nodeid and item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.live)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Fail a live test if a process that it started, or that serves it, listens on more than this machine.

    It is looked while the test runs, and at its end, before anything is taken down. This is for all tests of engines
    that are marked live: those on Ray, Ray Serve, Slurm, Kubernetes' API server, HAProxy, and agents. Of Serve all but
    its replicas is held to that.
    """
    if item.get_closest_marker("live") is None:
        return (yield)
    found = set()
    with polling_for_listeners(_STARTED, found):
        answer = yield
    if ours := sorted(each for each in found if not each.startswith(_SERVES_OWN)):
        pytest.fail(f"reachable from other machines: {'; '.join(ours)}", pytrace=False)
    return answer


@pytest.fixture(scope="module")
def serve_address():
    """Run Serve on a private Ray and yield its HTTP address; at the end no process may be left."""
    pytest.importorskip("ray.serve", reason="Ray Serve is not installed (the extra `ray`)")
    import psutil
    from benchmarks.serve_app import serving

    def below():
        return psutil.Process().children(recursive=True)

    before = {child.pid for child in below()}
    with serving() as address:
        started = [child for child in below() if child.pid not in before]
        assert started
        yield address
        started += [child for child in below() if child.pid not in before and child not in started]
    _, alive = psutil.wait_procs(started, timeout=20)
    assert alive == [], f"left behind: {alive}"
