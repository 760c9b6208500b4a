"""API servers to try an autoscaler on."""

import pytest


@pytest.fixture(params=["of the tests", "real"])
def served(request, tmp_path):
    """An API server, one of the tests' own and a real one where its programs are, and what goes on beside it."""
    pytest.importorskip("kubernetes", reason="needs the package kubernetes")
    from tests.engines.kubernetes.real import served_real
    from tests.engines.kubernetes.served import served_here

    with (served_real if request.param == "real" else served_here)(tmp_path) as found:
        yield found


@pytest.fixture
def between(served):
    """What an autoscaler asks goes through it."""
    from contextlib import closing

    from tests.engines.kubernetes.between import Between

    with closing(Between(served.upstream)) as found:
        yield found
