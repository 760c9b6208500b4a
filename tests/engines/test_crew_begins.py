"""Start and end of the processes of a worker pool, with a fake executor."""

from concurrent.futures import Future
from types import SimpleNamespace

import pytest

from windlass.engines import worker_pool


class Pool:
    """A pool that records its arguments and its end."""

    def __init__(self, **more):
        self.made, self.ended = more, []

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        self.ended.append("left")

    def submit(self, function, *arguments):
        done = Future()
        done.set_result(function(*arguments))
        return done

    def shutdown(self, **more):
        self.ended.append(more)


@pytest.fixture
def pools(monkeypatch):
    made = []

    def pool(**more):
        made.append(Pool(**more))
        return made[-1]

    monkeypatch.setattr(worker_pool, "ProcessPoolExecutor", pool)
    return made


def test_processes_are_spawned_with_the_common_initializer(pools):
    with worker_pool.processes(5) as own:
        assert own.size() == 5
        assert own.submit(max, 3, 7).result() == 7
        value = object()
        assert own.share(value) is value
    made = pools[0].made
    assert (made["max_workers"], made["initializer"]) == (5, worker_pool._begin)
    assert made["mp_context"].get_start_method() == "spawn"
    assert pools[0].ended == ["left"]


def test_after_an_error_pending_calls_are_cancelled(pools):
    with pytest.raises(KeyboardInterrupt), worker_pool.processes(2):
        raise KeyboardInterrupt
    assert pools[0].ended == [{"wait": False, "cancel_futures": True}, "left"]


def test_a_new_process_ends_with_its_parent_and_may_not_exit(monkeypatch):
    done = []
    monkeypatch.setattr(worker_pool, "_end_with_parent", lambda: done.append("ends with its parent"))
    monkeypatch.setattr(worker_pool, "refuse_to_leave", lambda: done.append("may not leave"))
    worker_pool._begin()
    assert sorted(done) == ["ends with its parent", "may not leave"]


@pytest.mark.parametrize("has_parent", [True, False])
def test_a_daemon_thread_waits_for_the_end_of_the_parent(has_parent, monkeypatch):
    seen, begun = [], []
    parent = SimpleNamespace(sentinel=41) if has_parent else None

    def waits(sentinels):
        seen.append(("waits", list(sentinels)))

    class Thread:
        def __init__(self, target, name, daemon):
            begun.append(daemon)
            self.target = target

        def start(self):
            self.target()

    context = SimpleNamespace(parent_process=lambda: parent, connection=SimpleNamespace(wait=waits))
    monkeypatch.setattr(worker_pool, "multiprocessing", context)
    monkeypatch.setattr(worker_pool, "threading", SimpleNamespace(Thread=Thread))
    monkeypatch.setattr(worker_pool, "os", SimpleNamespace(_exit=lambda code: seen.append(("ends", code))))
    worker_pool._end_with_parent()
    assert seen == ([("waits", [41]), ("ends", 1)] if has_parent else [])
    assert begun == [True]
