"""The compilation target: everything other than the function itself that its machine code depends on."""

from __future__ import annotations

import functools
import hashlib
import platform
import sys
from pathlib import Path

import llvmlite  # type: ignore[import-untyped]
import numba
import numpy as np
from numba.core import config
from numba.core.registry import cpu_target

#: Settings in ``numba.config`` that a user can change and that may affect the generated code.
_SWITCHES = (
    *("OPT", "BOUNDSCHECK", "LOOP_VECTORIZE", "SLP_VECTORIZE", "DEBUGINFO_DEFAULT", "ENABLE_AVX"),
    *(
        "LLVM_REFPRUNE_PASS",
        "LLVM_REFPRUNE_FLAGS",
        "DISABLE_INTEL_SVML",
        "CAPTURED_ERRORS",
        "FULL_TRACEBACKS",
    ),
)


@functools.cache
def fingerprint() -> str:
    """Return a text that identifies everything that all compiled code depends on.

    It contains a digest of this package's source, the versions of Numba, llvmlite, NumPy and Python, the processor, and
    Numba's settings.
    """
    state = hashlib.sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        state.update(file.read_bytes())
    versions = numba.__version__, llvmlite.__version__, np.__version__, platform.python_version()
    settings = [(name, str(getattr(config, name, None))) for name in _SWITCHES]
    machine = cpu_target.target_context.codegen().magic_tuple()
    return repr((state.hexdigest(), versions, sys.implementation.cache_tag, machine, settings))
