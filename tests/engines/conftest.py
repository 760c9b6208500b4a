"""One private Ray for the tests of the live engines, gone without a trace afterwards."""

import pytest


def pytest_collection_modifyitems(items):
    """Slow tests of engines run on real ones: `.ci/run` may run one that failed again, and says which."""
    for item in items:
        if "tests/engines/" in item.nodeid and item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.live)


@pytest.fixture(scope="module")
def serve_address():
    """Serve on a private Ray; its HTTP address. When it ends, no process of it may be left."""
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
