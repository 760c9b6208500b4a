"""API servers to try an autoscaler on."""

import pytest


@pytest.fixture
def served(tmp_path):
    """An API server of the tests' own, and what goes on beside it."""
    pytest.importorskip("kubernetes", reason="needs the package kubernetes")
    from tests.engines.kubernetes.served import served_here

    with served_here(tmp_path) as found:
        yield found
