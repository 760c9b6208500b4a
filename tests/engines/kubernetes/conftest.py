"""API servers to try an autoscaler on."""

import pytest


@pytest.fixture(params=["here"])
def served(request, tmp_path):
    """An API server, and what goes on beside it."""
    pytest.importorskip("kmock", reason="needs the package kmock")
    pytest.importorskip("kubernetes", reason="needs the package kubernetes")
    from tests.engines.kubernetes.served import served_here

    with served_here(tmp_path) as found:
        yield found
