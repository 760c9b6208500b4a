"""Code generation for helpers: once, inside the kernel that calls them.

Numba generates machine code for every function that a kernel calls, including everything that it calls in turn: a
function ten calls deep is optimised ten times, and nine of the results are never run. Here, a function that only
compiled functions call stays in LLVM's intermediate representation. It is linked into its callers, and optimised and
translated only as part of a kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

#: Prefix of symbols that Numba resolves only at run time, for recursive functions.
_FOUND_LATE = ".numba.unresolved$"


class _NoEnvironment:
    """Replaces the code generator where Numba stores a function's environment: without machine code there is none."""

    def set_env(self, name: str, environment: object) -> None:
        """Do nothing."""


class LinkedLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Intermediate representation for callers to link; only a recursive function has an address."""

    _has_address = False

    def finalize(self) -> None:
        """Link the functions that this one calls; only for a recursive function, generate machine code."""
        if any(value.name.startswith(_FOUND_LATE) for value in self._final_module.global_variables):
            self._has_address = True
            super().finalize()
            return
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return the address of a function; 0 if there is no machine code."""
        return int(super().get_pointer_to_function(name)) if self._has_address else 0

    @property
    def codegen(self) -> Any:
        """The code generator, where Numba stores the environment; a substitute if there is no machine code."""
        return super().codegen if self._has_address else _NoEnvironment()


class HelperCompiler(Compiler):  # type: ignore[misc]
    """Compiles a function that only compiled functions call."""

    def __init__(self, typing_context: Any, target: Any, library: Any, *rest: Any) -> None:
        super().__init__(typing_context, target, library or LinkedLibrary(target.codegen(), "helper"), *rest)


class KernelCompiler(Compiler):  # type: ignore[misc]
    """Compiles a kernel together with the helpers that it calls."""

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        """Compile, and store the environments of the kernel and of the helpers linked into it."""
        result = super().compile_extra(func)
        environments = result._find_referenced_environments()
        for environment in environments:
            result.library.codegen.set_env(environment.env_name, environment)
        return result._replace(referenced_envs=environments)


def called_only(dispatcher: Any) -> Any:
    """Make a helper's dispatcher safe to call from Python too, as tests do; return it.

    Code compiled for compiled callers has no address, so the first call from Python compiles the function again.
    """
    from_python = type(dispatcher)(dispatcher.py_func, targetoptions=_with_wrappers(dispatcher.targetoptions))

    def add_overload(result: Any) -> None:
        dispatcher.overloads[tuple(result.signature.args)] = result

    dispatcher.add_overload = add_overload
    dispatcher._compile_for_args = from_python._compile_for_args
    return dispatcher


def _with_wrappers(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if not name.endswith("_wrapper")}
