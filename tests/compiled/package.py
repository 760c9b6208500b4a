"""The package of compiled functions, written, imported and run."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.compiled.sources import FILES, Edit


def write(folder: Path, edits: tuple[Edit, ...] = (), files: dict[str, str] = FILES) -> None:
    """Write the package with these edits."""
    texts = {**files, "__init__.py": ""}
    for edit in edits:
        assert texts[edit.file].count(edit.old) == 1, edit
        texts[edit.file] = texts[edit.file].replace(edit.old, edit.new)
    for name, text in texts.items():
        file = folder / "pkg" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


@contextmanager
def imported(folder: Path) -> Iterator[ModuleType]:
    """The package's kernels, imported anew in this process."""
    importlib.invalidate_caches()
    sys.path.insert(0, str(folder))
    bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        yield importlib.import_module("pkg.one")
    finally:
        sys.dont_write_bytecode = bytecode
        sys.path.remove(str(folder))
        for name in [name for name in sys.modules if name.partition(".")[0] == "pkg"]:
            del sys.modules[name]


_PROGRAM = """
import json, sys
import {module} as tried
kernels = tried.KERNELS
found = tried.results()
compiled = sorted(name for name, kernel in kernels.items() if kernel.ready().stats.cache_misses)
print(json.dumps([found, compiled]))
"""


def start(folder: Path, module: str = "pkg.one", **environment: str) -> subprocess.Popen[str]:
    """A new process that calls all kernels of a module."""
    return subprocess.Popen(
        [sys.executable, "-B", "-c", _PROGRAM.format(module=module)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={
            **{name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"},
            "PYTHONPATH": os.pathsep.join([str(folder), *sys.path]),
            "XDG_CACHE_HOME": str(folder / "cache"),
            **environment,
        },
    )


def finish(process: subprocess.Popen[str]) -> tuple[dict[str, float], list[str]]:
    """The results of the process, and which kernels it compiled."""
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    found: Any = json.loads(out)
    return found[0], found[1]
