"""How tests are collected and run: no examples in files of tests, few threads, and little garbage collection."""

import ast
import gc
import os
from pathlib import Path

from tests.conftest import is_of_tests

TESTS = Path(__file__).parents[1]


def has_examples(path):
    """Return whether a docstring of a file has an example."""
    text = path.read_text(encoding="utf-8")
    if ">>>" not in text:
        return False
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    nodes = (node for node in ast.walk(ast.parse(text)) if isinstance(node, documented))
    return any(">>>" in (ast.get_docstring(node) or "") for node in nodes)


def test_files_in_which_no_examples_are_looked_for_have_none():
    files = list(TESTS.rglob("*.py"))
    assert [path for path in files if is_of_tests(path) and has_examples(path)] == []
    # Modules that tests share have some.
    assert [path for path in files if not is_of_tests(path) and has_examples(path)]


def test_linear_algebra_uses_one_thread_unless_set():
    assert {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"} <= os.environ.keys()


def test_collected_tests_are_excluded_from_garbage_collection():
    assert gc.get_freeze_count() > len(gc.get_objects()) / 10
