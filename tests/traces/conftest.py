"""What the tests of traces share: the real logs where they are at hand, and what a reader makes of a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from windlass.io.traces import Trace
from windlass.model import InputError

REAL = Path(__file__).resolve().parents[3] / "shared" / "traces"


@pytest.fixture
def real() -> Path:
    """Return the folder of real traces next to the repository."""
    if not REAL.is_dir():
        pytest.skip("the real traces are missing: no folder ../shared/traces next to the repository")
    return REAL


@pytest.fixture(scope="session")
def outcome() -> Callable[..., Trace | str]:
    """A function that returns what a reader does, or its one line; any other error fails the test."""

    def read_or_say(read: Callable[[Path, bool], Trace], path: Path, skip: bool) -> Trace | str:
        try:
            return read(path, skip)
        except InputError as error:
            return str(error)

    return read_or_say
