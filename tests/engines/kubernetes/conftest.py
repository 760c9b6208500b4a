"""API servers to try an autoscaler on."""

import pytest


@pytest.fixture(params=["here", "real"])
def served(request, tmp_path):
    """An API server, and what goes on beside it: one of the tests' own, and a real one where it has been built."""
    pytest.importorskip("kubernetes", reason="needs the package kubernetes")
    from tests.engines.kubernetes.real import served_real
    from tests.engines.kubernetes.served import served_here

    with {"here": served_here, "real": served_real}[request.param](tmp_path) as found:
        yield found
