"""The key of a compiled function changes with everything that it depends on, and with nothing else."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

import windlass
from tests.compiled.package import imported, write
from tests.compiled.sources import EDITS, IDLE, Edit
from windlass.jit import Kernel
from windlass.jit.bytecode import NotFollowedError
from windlass.jit.depends import dependencies

_NUMBER = numba.float64(numba.float64)


def keys(folder: Path, *edits: Edit) -> dict[str, str]:
    """The key of each kernel of the package with these edits."""
    write(folder, edits)
    with imported(folder) as module:
        return {name: kernel.depends().key for name, kernel in module.KERNELS.items()}


@pytest.mark.matrix
@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.changes[0])
def test_an_edit_changes_only_the_keys_that_depend_on_it(edit, tmp_path):
    before, after = keys(tmp_path), keys(tmp_path, edit)
    assert {name for name in before if before[name] != after[name]} == set(edit.changes)


def test_every_kernel_of_the_package_is_changed_by_some_edit(tmp_path):
    assert set(keys(tmp_path)) == {name for edit in EDITS for name in edit.changes}


@pytest.mark.parametrize("edit", IDLE, ids=lambda edit: edit.old[:20])
def test_edits_without_code_changes_keep_the_keys(edit, tmp_path):
    assert keys(tmp_path) == keys(tmp_path, edit)


def test_keys_of_different_functions_differ(tmp_path):
    found = keys(tmp_path)
    assert len(set(found.values())) == len(found)


def key_of(source: str, **names: object) -> str:
    space: dict[str, object] = {"__name__": "made", **names}
    exec(source, space)
    return dependencies(numba.njit(space["f"]), _NUMBER).key


def test_a_docstring_is_left_out_and_an_equal_constant_is_not():
    text = "def f(x):\n    '''{}'''\n    return x if g == '{}' else -x"
    assert key_of(text.format("a", "b"), g="b") == key_of(text.format("c", "b"), g="b")
    assert key_of(text.format("a", "a"), g="b") != key_of(text.format("b", "b"), g="b")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        (1, True),
        (0.0, -0.0),
        (1.0, np.float64(1.0)),
        (np.float32(1.0), np.float64(1.0)),
        (np.zeros(2), np.zeros((2, 1))),
        (np.zeros(2), np.zeros(2, np.int64)),
        (np.arange(4.0).reshape(2, 2), np.arange(4.0).reshape(2, 2).T),
        (np.ones((2, 3)), np.asfortranarray(np.ones((2, 3)))),
        ((1, (2,)), ((1, 2),)),
        (("ab", "c"), ("a", "bc")),
        ("1", 1),
        (b"1", "1"),
        (None, "None"),
        (np.sin, np.cos),
        (np.dtype("f8"), np.dtype("f4")),
        (np.dtype([("a", "f8")]), np.dtype([("b", "f8")])),
        (numba.float64, numba.float32),
        (numba.float64[:], numba.float64[::1]),
        (np.uint64, np.int64),
    ],
    ids=repr,
)
def test_constants_that_compile_differently_have_different_keys(one, other):
    source = "def f(x):\n    return g"
    assert key_of(source, g=one) == key_of(source, g=one)
    assert key_of(source, g=one) != key_of(source, g=other)


def test_a_set_reads_the_same_in_any_order():
    source = "def f(x):\n    return x in g"
    assert key_of(source, g=frozenset(range(50))) == key_of(source, g=frozenset(reversed(range(50))))


def test_functions_that_call_each_other_have_a_key():
    source = "@njit\ndef g(x):\n    return f(x) if x > {} else x\n@njit\ndef f(x):\n    return g(x - 1.0)"

    def key(bound: float) -> str:
        space: dict[str, object] = {"__name__": "made", "njit": numba.njit}
        exec(source.format(bound), space)
        return dependencies(space["f"], _NUMBER).key

    assert key(1.0) == key(1.0) != key(2.0)


def test_compile_options_and_the_signature_are_part_of_the_key():
    def f(x):
        return x

    found = [
        dependencies(numba.njit(**options)(f), signature).key
        for options, signature in (
            ({}, _NUMBER),
            ({"error_model": "numpy"}, _NUMBER),
            ({"fastmath": True}, _NUMBER),
            ({}, numba.float32(numba.float32)),
            ({}, numba.float32(numba.float64)),
        )
    ]
    assert len(set(found)) == len(found)


def test_unsupported_references_raise():
    class State:
        limit = 3.0

    source = "def f(x):\n    return x + g.limit"
    for held in (State(), State, [State()], np.array([State()], object)):
        with pytest.raises(NotFollowedError):
            key_of(source, g=held)

    text = "def f(x):\n    import math\n    return x + math.pi"
    with pytest.raises(NotFollowedError):
        key_of(text)


def test_a_kernel_with_unsupported_references_is_compiled_with_a_warning(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    held = numba.typed.List([1.0])

    def more(x, held=held):
        return x + 1.0

    kernel = Kernel(more, numba.float64(numba.float64, numba.typeof(held)))
    with pytest.warns(
        UserWarning, match="more cannot be cached and is recompiled in every process: it refers to ListType"
    ):
        assert kernel.ready()(1.0, held) == 2.0
    assert not list(tmp_path.rglob("*.compiled"))


def test_every_kernel_of_windlass_has_a_key():
    for package in (
        "order.fleet.policies",
        "order.site.policies",
        "dispatch.policies",
        "place.policies",
        "experiment.worlds",
    ):
        for module in pkgutil.walk_packages(importlib.import_module(f"windlass.{package}").__path__):
            importlib.import_module(f"windlass.{package}.{module.name}")
    found = [
        (name, kernel)
        for name, module in list(sys.modules.items())
        if name.startswith("windlass.")
        for kernel in kernels_in(module)
    ]
    assert len(found) > 30
    for name, kernel in found:
        assert len(kernel.depends().key) == 64, name


def kernels_in(module):
    for value in vars(module).values():
        for held in [value, *(vars(value).values() if isinstance(value, type) else ())]:
            if isinstance(held, Kernel):
                yield held


@pytest.mark.slow
def test_windlass_registers_nothing_with_numba():
    """Registrations that :mod:`windlass.jit.depends` cannot find."""
    unseen = ("overload", "lower_builtin", "type_callable", "register_jitable", "jitclass", "typeof_impl")
    for file in Path(windlass.__file__).parent.rglob("*.py"):
        imported = [
            node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.ImportFrom)
        ]
        names = {
            name.name for node in imported if (node.module or "").startswith("numba") for name in node.names
        }
        assert not [name for name in names if name.startswith(unseen)], file
