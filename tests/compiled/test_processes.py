"""Kernels compiled by several processes: each once, also if a process fails, dies or hangs."""

from __future__ import annotations

import functools
import os
import signal
import sys
import time
from pathlib import Path

import pytest
from numba import types
from numba.core import event

from windlass import jit
from windlass.jit import Kernel, cache_folder, prepare, processes
from windlass.jit.progress import Compiling

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux only")

FUNCTIONS = [object() for _ in range(processes._FEWEST)]


def _compiled(function):
    """Send the events of the compilation of a function."""
    event.start_event("numba:compile", data={"dispatcher": function})
    event.end_event("numba:compile", data={"dispatcher": function})


def _compiler(folder, number, action=lambda: None):
    """Return a compiler that appends to its own file, and reports one function."""

    def compile_one():
        with (folder / str(number)).open("a") as file:
            file.write(f"{os.getpid()}\n")
        action()
        _compiled(FUNCTIONS[number])

    return compile_one


def _run(compilers, count=2, done=lambda function: None, weights=None):
    processes.compile_by_processes(compilers, weights or [1] * len(compilers), FUNCTIONS, done, count)


def _ran(folder):
    return {path.name: path.read_text().split() for path in folder.iterdir()}


def _children():
    """Return whether this process has children that nothing waited for."""
    try:
        return os.waitpid(-1, os.WNOHANG) != (0, 0)
    except ChildProcessError:
        return False


def test_each_compiler_runs_once_in_another_process(tmp_path):
    done = []
    _run([_compiler(tmp_path, number) for number in range(12)], count=3, done=done.append)
    ran = _ran(tmp_path)
    assert set(ran) == set(map(str, range(12)))
    assert all(len(processes) == 1 for processes in ran.values())
    assert str(os.getpid()) not in {processes[0] for processes in ran.values()}
    assert sorted(map(id, done)) == sorted(id(each) for each in FUNCTIONS[:12])
    assert not _children()


def test_the_heaviest_is_first(tmp_path):
    """One process holds the heaviest kernel until the other process has taken the other kernels, one by one."""
    log = tmp_path / "log"

    def taken():
        return log.read_text().split()

    def compiler(name, action=lambda: None):
        def compile_one():
            with log.open("a") as file:
                file.write(f"{name}\n")
            action()

        return compile_one

    first = compiler("first", lambda: [time.sleep(0.01) for _ in range(3000) if len(taken()) < 4])
    _run([compiler("b"), compiler("c"), compiler("a"), first], weights=[5, 3, 9, 99])
    assert taken() == ["first", "a", "b", "c"]


def test_a_function_that_two_processes_compile_is_done_once(tmp_path):
    done = []
    twice = [_compiler(tmp_path, 0), _compiler(tmp_path, 0)]
    _run(twice, done=done.append)
    assert done == [FUNCTIONS[0]]


@pytest.mark.parametrize("end", ["raises", "dies"])
def test_a_compiler_that_fails_does_not_stop_the_others(tmp_path, end):
    def fail():
        if end == "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        raise ValueError(end)

    failing = _compiler(tmp_path, 0, fail)
    _run([failing, *(_compiler(tmp_path, number) for number in range(1, 6))], weights=[9, 1, 1, 1, 1, 1])
    assert set(_ran(tmp_path)) == set(map(str, range(6)))
    assert not _children()


@pytest.mark.matrix(0)
def test_processes_that_report_nothing_are_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "_PATIENCE_S", 0.2)
    hanging = _compiler(tmp_path, 0, functools.partial(time.sleep, 3600))
    _run([hanging, hanging])
    assert not _children()


def test_an_interrupt_of_the_caller_stops_the_processes(tmp_path):
    def interrupt(function):
        raise KeyboardInterrupt

    hanging = _compiler(tmp_path, 0, functools.partial(time.sleep, 3600))
    with pytest.raises(KeyboardInterrupt):
        _run([hanging, _compiler(tmp_path, 1)], done=interrupt)
    assert not _children()


def test_processes_end_when_their_caller_is_killed(tmp_path):
    def report_forever():
        while True:
            _compiled(FUNCTIONS[0])

    caller = os.fork()
    if not caller:
        try:
            _run([_compiler(tmp_path, number, report_forever) for number in range(2)])
        finally:
            os._exit(1)
    while len(_ran(tmp_path)) < 2 or not all(_ran(tmp_path).values()):
        time.sleep(0.01)
    os.kill(caller, signal.SIGKILL)
    os.waitpid(caller, 0)
    for (process,) in _ran(tmp_path).values():
        while _is_alive(int(process)):
            time.sleep(0.01)


def _is_alive(process):
    """Return whether a process runs; one that has ended may stay as a zombie, whose parent has not waited for it."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize(("kernels", "functions", "count"), [(1, 40, 2), (5, 39, 2), (5, 40, 1)])
def test_little_to_compile_needs_no_process(tmp_path, kernels, functions, count):
    compilers = [_compiler(tmp_path, number) for number in range(kernels)]
    processes.compile_by_processes(
        compilers, [1] * kernels, FUNCTIONS[:functions], lambda function: None, count
    )
    assert not _ran(tmp_path)


def _kernel(shift, module="windlass.sim"):
    def shifted(x):
        return x + shift

    shifted.__module__ = module
    return Kernel(shifted, types.float64(types.float64))


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(processes, "_FEWEST", 2)
    monkeypatch.setattr(jit, "processors", lambda: 2)
    return cache_folder()


def _compiled_here(kernels, report=None):
    """Prepare kernels; return the names of the functions that this process compiled."""
    with event.install_recorder("numba:compile") as recorder:
        prepare(kernels, report, quiet=True)
    return [found.data["dispatcher"].__name__ for _, found in recorder.buffer if found.is_start]


def test_kernels_that_processes_compiled_are_loaded_from_the_cache(empty_cache):
    kernels, reports = (
        [_kernel(*each) for each in ((1.0, "windlass.jit"), (2.0, "windlass.sim"), (3.0, "windlass.sim"))],
        [],
    )
    assert not _compiled_here(kernels, reports.append)
    assert len(list(empty_cache.iterdir())) == 3
    assert [kernel.ready()(5.0) for kernel in kernels] == [6.0, 7.0, 8.0]
    assert [each.done for each in reports] == [0, 1, 2, 3, 3]
    assert reports[-1] == Compiling("", 3, 3)


def test_what_processes_could_not_compile_is_compiled_here(empty_cache, monkeypatch):
    caller, compile_kernel = os.getpid(), Kernel.compile

    def compile_in_caller(kernel, **wait):
        if os.getpid() != caller:
            raise MemoryError
        return compile_kernel(kernel, **wait)

    monkeypatch.setattr(Kernel, "compile", compile_in_caller)
    kernels = [_kernel(4.0), _kernel(5.0, "windlass.jit")]
    assert _compiled_here(kernels) == ["shifted", "shifted"]
    assert [kernel.ready()(5.0) for kernel in kernels] == [9.0, 10.0]


def test_a_folder_that_cannot_be_written_to_needs_no_process(empty_cache, monkeypatch):
    monkeypatch.setattr(jit, "is_writable", lambda folder: False)
    assert _compiled_here([_kernel(6.0), _kernel(7.0, "windlass.jit")]) == ["shifted", "shifted"]


@pytest.mark.matrix(0)
def test_one_process_compiles_the_kernels_of_a_package(empty_cache, monkeypatch):
    """Each process leaves its number with the kernels that it compiled."""
    compile_kernel = Kernel.compile

    def noting(kernel, **wait):
        with (empty_cache / kernel.python.__module__).open("a") as file:
            file.write(f"{os.getpid()}\n")
        return compile_kernel(kernel, **wait)

    monkeypatch.setattr(Kernel, "compile", noting)
    modules = ["windlass.sim.site.loop", "windlass.sim.site.moves", "windlass.jit"] * 2
    prepare([_kernel(float(shift), module) for shift, module in enumerate(modules)], quiet=True)
    seen = {
        module: set((empty_cache / module).read_text().split()) - {str(os.getpid())} for module in modules
    }
    assert seen["windlass.sim.site.loop"] == seen["windlass.sim.site.moves"]
    assert all(len(each) == 1 for each in seen.values())
