"""Compiling what a kernel calls once, inside the kernel.

Numba makes machine code of every function that a kernel calls, and of everything below it: a function that stands
ten calls deep is optimised ten times, and nobody ever runs nine of the results. Here a function that only compiled
functions call is kept as the compiler's intermediate code, which is linked into its callers, and optimised and
translated where a kernel is made of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

#: Begins the name of what Numba finds at run time only, for functions that call themselves.
_FOUND_LATE = ".numba.unresolved$"


class _NoEnvironment:
    """Stands where Numba writes down a function's environment: one without machine code has no place for it."""

    def set_env(self, name: str, environment: object) -> None:
        """Nothing."""


class LinkedLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Intermediate code for callers to link; it has no address."""

    _has_address = False

    def finalize(self) -> None:
        """Link what this calls, and leave the rest to the callers."""
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
        """The address of a function; 0 for none."""
        return int(super().get_pointer_to_function(name)) if self._has_address else 0

    @property
    def codegen(self) -> Any:
        """Where Numba writes down the environment."""
        return super().codegen if self._has_address else _NoEnvironment()


class HelperCompiler(Compiler):  # type: ignore[misc]
    """Compiles a function that only compiled functions call."""

    def __init__(self, typing_context: Any, target: Any, library: Any, *rest: Any) -> None:
        super().__init__(typing_context, target, library or LinkedLibrary(target.codegen(), "helper"), *rest)


class KernelCompiler(Compiler):  # type: ignore[misc]
    """Compiles a kernel, with what it calls inside."""

    def compile_extra(self, func: Callable[..., Any]) -> Any:
        """Compile, and give what is inside its environments, which had no place until now."""
        result = super().compile_extra(func)
        environments = result._find_referenced_environments()
        for environment in environments:
            result.library.codegen.set_env(environment.env_name, environment)
        return result._replace(referenced_envs=environments)


def called_only(dispatcher: Any) -> Any:
    """The same dispatcher of a helper, safe to call from Python, which is for trying things out only.

    What was compiled for compiled callers has no address: for a call from Python it is compiled once more.
    """
    callable_one = type(dispatcher)(dispatcher.py_func, targetoptions=_of_its_own(dispatcher.targetoptions))

    def add_overload(result: Any) -> None:
        dispatcher.overloads[tuple(result.signature.args)] = result

    dispatcher.add_overload = add_overload
    dispatcher._compile_for_args = callable_one._compile_for_args
    return dispatcher


def _of_its_own(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if not name.endswith("_wrapper")}
