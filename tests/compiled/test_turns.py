"""Processes that need the same function: one compiles it, the others load it."""

import fcntl
import threading
from pathlib import Path

import pytest
from numba import types

from windlass.jit import Kernel, prepare, turns
from windlass.jit.turns import compiling


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    return tmp_path / "windlass" / "kernels"


def make_kernel(step):
    def _add(x):
        return x + step

    return Kernel(_add, types.float64(types.float64))


def path_of(kernel):
    kernel.uncompiled()
    return kernel._dispatcher._cache.path


def test_a_kernel_that_another_process_compiles_comes_last_and_is_loaded(empty_cache):
    same, busy, free = make_kernel(2.0), make_kernel(2.0), make_kernel(3.0)
    ended = threading.Event()

    def other_process():
        """Compile the busy kernel once the free one is in the cache."""
        with compiling(path_of(same), wait=False) as is_mine:
            assert is_mine
            begun.set()
            while not path_of(free).exists():
                assert not ended.wait(0.01), "the free kernel was not compiled first"
            same._dispatcher.compile(same.signature)

    begun = threading.Event()
    other = threading.Thread(target=other_process)
    other.start()
    try:
        assert begun.wait(60)
        prepare([busy, free], quiet=True)
    finally:
        ended.set()
        other.join()
    assert busy.ready()(1.0) == 3.0
    assert sum(busy._dispatcher.stats.cache_hits.values()) == 1
    assert sum(free._dispatcher.stats.cache_misses.values()) == 1
    assert list(empty_cache.glob("*.lock")) == []


def test_without_waiting_a_kernel_that_another_process_compiles_is_not_ready(empty_cache):
    kernel = make_kernel(4.0)
    with compiling(path_of(kernel), wait=False):
        assert not kernel.compile(wait=False)
        assert not kernel._dispatcher.overloads
    assert kernel.compile(wait=False)
    assert kernel.compile(wait=False)


def test_a_lock_that_is_held_for_too_long_is_ignored(tmp_path, monkeypatch):
    monkeypatch.setattr(turns, "PATIENCE_S", 0.05)
    with compiling(tmp_path / "f", wait=False) as first, compiling(tmp_path / "f", wait=True) as second:
        assert (first, second) == (True, True)


def test_the_lock_of_one_that_only_gave_up_waiting_stays(tmp_path):
    with compiling(tmp_path / "f", wait=False):
        with compiling(tmp_path / "f", wait=False) as second:
            assert not second
        with compiling(tmp_path / "f", wait=False) as third:
            assert not third
    with compiling(tmp_path / "f", wait=False) as fourth:
        assert fourth


def test_waiting_ends_when_the_function_is_in_the_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(turns, "PATIENCE_S", 1e9)
    (tmp_path / "f.compiled").touch()
    with (
        compiling(tmp_path / "f.compiled", wait=False),
        compiling(tmp_path / "f.compiled", wait=True) as ready,
    ):
        assert ready


def test_where_nothing_can_be_locked_each_process_compiles(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    with compiling(tmp_path / "file" / "f", wait=False) as is_mine:
        assert is_mine

    def unsupported(handle, operation):
        raise OSError("no locks")

    monkeypatch.setattr(fcntl, "flock", unsupported)
    with compiling(tmp_path / "f", wait=False) as first, compiling(tmp_path / "f", wait=True) as second:
        assert (first, second) == (True, True)


def test_a_lock_file_that_cannot_be_removed_is_no_error_and_is_released(tmp_path, monkeypatch):
    def refused(path, missing_ok=False):
        raise PermissionError("the file of another user")

    monkeypatch.setattr(Path, "unlink", refused)
    for _ in range(2):
        with compiling(tmp_path / "f", wait=False) as is_mine:
            assert is_mine
    assert (tmp_path / "f.lock").exists()
