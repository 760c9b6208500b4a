"""Compiled functions on disk: no stale code is used, and cached code is not compiled again."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

import numba
import pytest

from tests.compiled.package import finish, start, write
from tests.compiled.sources import EDITS, IDLE, Edit
from windlass.jit import Kernel, cache, prepare
from windlass.jit.progress import Compiling

POLICIES = {
    "loop.py": """
from numba import types
from windlass.jit import Kernel
CHOOSE = types.float64(types.float64)
def _loop(choose, x):
    return choose(x) + choose(x + 1.0)
LOOP = Kernel(_loop, types.float64(types.FunctionType(CHOOSE), types.float64))
""",
    "shared.py": """
from windlass.jit import helper
from pkg import constants as at
@helper
def shared(x):
    "What both use."
    return x * at.SCALE
@helper
def of_one(x):
    return x + 1.0
""",
    "constants.py": "SCALE = 2.0\n",
    "one.py": """
from windlass.jit import Kernel
from pkg.loop import CHOOSE
from pkg.shared import of_one, shared
def _one(x):
    "The first."
    return of_one(shared(x))
def _beside(x):
    return x
ONE = Kernel(_one, CHOOSE)
""",
    "two.py": """
from windlass.jit import Kernel
from pkg.loop import CHOOSE
from pkg.shared import shared
def _two(x):
    return shared(x) - 1.0
TWO = Kernel(_two, CHOOSE)
""",
    "all.py": """
from pkg.loop import LOOP
from pkg.one import ONE
from pkg.two import TWO
KERNELS = {"loop": LOOP, "one": ONE, "two": TWO}
def results():
    return {name: LOOP.ready()(KERNELS[name].ready(), 1.0) for name in ("one", "two")}
""",
}

SHIFTED = {
    "loop.py": POLICIES["loop.py"],
    "shifted.py": """
import os
import numpy as np
from numba import types
from windlass.jit import Kernel, allocating, prepare
from pkg.loop import CHOOSE, LOOP
def _shifted(shift):
    @allocating
    def inner(x):
        "Long enough to be called, not copied."
        found = np.sort(np.array([x + shift, x + shift + 1.0]))
        return np.sort(found[::-1].copy())[0] + np.argsort(found)[0]
    def kernel(x):
        return inner(x) + inner(np.sqrt(x))
    return Kernel(kernel, CHOOSE)
KERNELS = {name: _shifted(float(name)) for name in os.environ["SHIFTS"].split()}
def results():
    prepare(KERNELS.values())
    return {name: LOOP.ready()(kernel.as_argument(), 1.0) for name, kernel in KERNELS.items()}
""",
}


def run_process(folder: Path, *edits: Edit, **environment: str) -> tuple[dict[str, float], list[str]]:
    """Results and what was compiled, of the two policies with these edits, in a new process."""
    write(folder, edits, POLICIES)
    return finish(start(folder, "pkg.all", **environment))


@pytest.mark.slow
def test_only_what_depends_on_an_edit_is_compiled_again(tmp_path):
    assert run_process(tmp_path) == ({"one": 8.0, "two": 4.0}, ["loop", "one", "two"])
    # Another process, with another order of sets: all of it is found.
    assert run_process(tmp_path, PYTHONHASHSEED="7") == ({"one": 8.0, "two": 4.0}, [])
    idle = (
        Edit("one.py", "The first.", "The first policy.", ()),
        Edit(
            "one.py", "def _beside(x):\n    return x\n", "\n# More.\ndef _beside(x):\n    return 2 * x\n", ()
        ),
        Edit("shared.py", "What both use.", "What both policies use.", ()),
    )
    assert run_process(tmp_path, *idle) == ({"one": 8.0, "two": 4.0}, [])
    policy = Edit("one.py", "of_one(shared(x))", "of_one(shared(x)) + 1.0", ())
    assert run_process(tmp_path, policy) == ({"one": 10.0, "two": 4.0}, ["one"])
    of_one = Edit("shared.py", "return x + 1.0", "return x + 2.0", ())
    assert run_process(tmp_path, of_one) == ({"one": 10.0, "two": 4.0}, ["one"])
    shared = Edit("shared.py", "return x * at.SCALE", "return x * at.SCALE + 1.0", ())
    assert run_process(tmp_path, shared) == ({"one": 10.0, "two": 6.0}, ["one", "two"])
    constant = Edit("constants.py", "2.0", "3.0", ())
    assert run_process(tmp_path, constant) == ({"one": 11.0, "two": 7.0}, ["one", "two"])
    # The code of an earlier state is still cached.
    assert run_process(tmp_path) == ({"one": 8.0, "two": 4.0}, [])


@pytest.mark.slow
def test_functions_of_one_name_from_several_processes_are_distinguished(tmp_path):
    write(tmp_path, files=SHIFTED)
    alone = {}
    for name in ("1", "2"):
        found, compiled = finish(start(tmp_path, "pkg.shifted", SHIFTS=name))
        alone |= found
        assert compiled == [name]
    together, compiled = finish(start(tmp_path, "pkg.shifted", SHIFTS="2 1"))
    assert (together, compiled) == (alone, [])


@pytest.mark.slow
def test_no_result_is_out_of_date_after_any_edit(tmp_path):
    write(tmp_path)
    before, compiled = finish(start(tmp_path))
    assert compiled == sorted(before)
    write(tmp_path, EDITS)
    after, _ = finish(start(tmp_path))
    write(tmp_path, EDITS)
    afresh, _ = finish(start(tmp_path, XDG_CACHE_HOME=str(tmp_path / "empty")))
    assert after == afresh
    assert all(after[name] != before[name] for name in before)
    write(tmp_path, IDLE)
    assert finish(start(tmp_path)) == (before, [])


@pytest.mark.slow
def test_two_processes_may_compile_the_same_at_once(tmp_path):
    write(tmp_path, (), POLICIES)
    both = [start(tmp_path, "pkg.all") for _ in range(2)]
    for process in both:
        assert finish(process)[0] == {"one": 8.0, "two": 4.0}
    assert run_process(tmp_path)[1] == []
    assert len(list((tmp_path / "cache").rglob("*"))) == 2 + 3


@pytest.mark.matrix(0)
def test_an_unwritable_cache_folder_is_not_an_error(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    assert run_process(tmp_path, XDG_CACHE_HOME=str(tmp_path / "file")) == (
        {"one": 8.0, "two": 4.0},
        ["loop", "one", "two"],
    )


@pytest.mark.matrix(0)
def test_numba_cache_dir_is_respected(tmp_path):
    run_process(tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "elsewhere"))
    assert len(list((tmp_path / "elsewhere").rglob("*.compiled"))) == 3
    assert not (tmp_path / "cache").exists()


@pytest.mark.slow
def test_damaged_files_are_compiled_again(tmp_path):
    run_process(tmp_path)
    for number, file in enumerate(sorted((tmp_path / "cache").rglob("*.compiled"))):
        content = file.read_bytes()
        file.write_bytes([b"", content[: len(content) // 2], content[:-1] + bytes([content[-1] ^ 1])][number])
    assert run_process(tmp_path) == ({"one": 8.0, "two": 4.0}, ["loop", "one", "two"])
    assert run_process(tmp_path) == ({"one": 8.0, "two": 4.0}, [])


def test_the_least_recently_used_files_are_removed(tmp_path):
    for age in range(5):
        file = tmp_path / str(age)
        file.write_bytes(b"x" * 10)
        os.utime(file, (1000 - age, 1000 - age))
    cache._remove_old(tmp_path, 35)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["0", "1", "2"]


def make_kernel(step: float) -> Kernel:
    def more(x):
        return x + step

    return Kernel(more, numba.float64(numba.float64))


def test_compiling_is_reported_unless_all_is_cached(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    reports: list[Compiling] = []
    kernels = [make_kernel(1.0), make_kernel(2.0)]
    prepare(kernels, reports.append, quiet=True)
    assert reports[0] == Compiling("", 0, 2)
    assert reports[-1] == Compiling("", 2, 2)
    assert [so_far.done for so_far in reports] == sorted(so_far.done for so_far in reports)
    assert any(so_far.function.endswith("more") for so_far in reports)
    reports.clear()
    prepare([make_kernel(1.0), make_kernel(2.0), *kernels], reports.append)
    assert reports == []


@pytest.mark.parametrize("draws", [False, True])
def test_compiling_is_announced_on_one_line_without_a_terminal(monkeypatch, tmp_path, capsys, draws):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("windlass.jit.progress.ANNOUNCE_AFTER_S", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: draws, raising=False)
    prepare([make_kernel(3.0)], lambda so_far: None)
    message = capsys.readouterr().err
    assert message == (
        "" if draws else "Compiling 1 function for this machine (first use only, then cached) …\n"
    )


@pytest.mark.matrix(0)
def test_garbage_collection_is_as_before_after_a_compilation(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    during = []
    before = gc.get_threshold(), gc.get_freeze_count()
    try:
        gc.set_threshold(600, 10, 5)
        prepare([make_kernel(4.0)], lambda so_far: during.append(gc.get_threshold()[0]), quiet=True)
        assert max(during) > 10_000
        assert gc.get_threshold() == (600, 10, 5)
        gc.set_threshold(0)
        during.clear()
        prepare([make_kernel(5.0)], lambda so_far: during.append(gc.get_threshold()[0]), quiet=True)
        assert set(during) == {0}
    finally:
        gc.set_threshold(*before[0])
    assert (gc.get_freeze_count() > 0) == (before[1] > 0)


def test_a_helper_called_by_a_kernel_can_be_called_from_python(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    from windlass.jit import helper

    @helper
    def doubled(x):
        return 2.0 * x

    def more(x):
        return doubled(x) + 1.0

    kernel = Kernel(more, numba.float64(numba.float64))
    assert kernel.ready()(2.0) == 5.0
    assert doubled(2.0) == 4.0
    assert doubled(3) == 6.0
