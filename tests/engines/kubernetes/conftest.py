"""API servers for tests of the autoscaler."""

import pytest


@pytest.fixture(params=["of the tests", "real"])
def served(request, tmp_path):
    """An API server with its cluster: an emulated one, and a real one if its programs are installed."""
    pytest.importorskip("kubernetes", reason="needs the package kubernetes")
    from tests.engines.kubernetes.real import served_real
    from tests.engines.kubernetes.served import served_here

    with (served_real if request.param == "real" else served_here)(tmp_path) as found:
        yield found


@pytest.fixture
def between(served):
    """The proxy of an autoscaler's requests."""
    from contextlib import closing

    from tests.engines.kubernetes.between import Between

    with closing(Between(served.upstream)) as found:
        yield found
