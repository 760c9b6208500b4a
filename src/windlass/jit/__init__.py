"""Compiled functions with a fixed signature: compiled on first use, with progress reports, and cached on disk.

A :class:`Kernel` pairs a function with the one signature that it is compiled for. Nothing is compiled at import:
:func:`prepare` compiles, so that a command can report progress and a benchmark can exclude the compilation. Because
signatures are fixed, one compiled event loop accepts any policy as a function argument and can still be cached.

- :mod:`~windlass.jit.depends`: cache keys, computed from everything that a function depends on.
- :mod:`~windlass.jit.bytecode`, :mod:`~windlass.jit.target`: the references in a function's code, and the compilation
  target.
- :mod:`~windlass.jit.cache`: the files of the cache.
- :mod:`~windlass.jit.codegen`: helpers whose machine code is generated only once, inside the kernel that calls them.
- :mod:`~windlass.jit.names`: unique names of compiled functions.
- :mod:`~windlass.jit.progress`: progress of a compilation; :mod:`~windlass.jit.processes`: compilation by several
  processes; :mod:`~windlass.jit.turns`: processes that need the same function compile it once.
- :mod:`~windlass.jit.schema`: declaration of compiled state.
- :mod:`~windlass.jit.compiled`: the kernels that a policy needs compiled before a run.
- :mod:`~windlass.jit.float_bits`: integers from the bits of floating-point numbers.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from numba import njit, types
from numba.core import event
from numba.extending import intrinsic

from windlass.jit.bytecode import NotFollowedError
from windlass.jit.cache import KernelCache, cache_folder, is_writable
from windlass.jit.codegen import HelperCompiler, KernelCompiler, called_only
from windlass.jit.depends import Dependencies, dependencies
from windlass.jit.names import distinguish
from windlass.jit.processes import compile_by_processes, processors
from windlass.jit.progress import Compiling as Compiling
from windlass.jit.progress import Counter, announce, counting
from windlass.jit.turns import compiling
from windlass.model.errors import InputError

distinguish()

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
#: Options of functions that only compiled functions call. The wrappers for calls from Python would take as long to
#: compile as the function.
_CALLED_ONLY: dict[str, Any] = {
    **_OPTIONS,
    "pipeline_class": HelperCompiler,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}


def _for_types(dispatcher: Any) -> Any:
    """Make a dispatcher compile once for each type; Numba would compile again for each constant argument."""
    typed = dispatcher.get_call_template

    def template(args: Any, kws: Any) -> Any:
        plain = {name: types.unliteral(kind) for name, kind in kws.items()}
        return typed(tuple(types.unliteral(kind) for kind in args), plain)

    dispatcher.get_call_template = template
    return dispatcher


def helper(python: Callable[..., Any]) -> Any:
    """Compile a helper that other compiled functions call; it needs no signature of its own."""
    return _for_types(called_only(njit(**_CALLED_ONLY)(python)))


def allocating(python: Callable[..., Any]) -> Any:
    """Compile a helper that allocates arrays, with reference counting.

    Without the explicit option, Numba would use the caller's setting, which may be off.
    """
    return _for_types(called_only(njit(**_CALLED_ONLY, _nrt=True)(python)))


def lean(python: Callable[..., Any]) -> Any:
    """Compile a helper that neither allocates an array nor gets one from a function that it calls.

    Its arrays are not reference counted. For a simulation's state, which holds dozens of arrays, the code that counts
    references would take most of the compile time.
    """
    return _for_types(called_only(njit(**_CALLED_ONLY, _nrt=False)(python)))


def inlined(python: Callable[..., Any]) -> Any:
    """Compile a small helper of an innermost loop as :func:`lean` does, and inline it into its callers.

    LLVM does the inlining. Numba's own inlining precedes type inference and repeats it for each copy: with it, the
    loop of small tasks took twice as long to compile and ran no faster.
    """
    return _for_types(called_only(njit(**_CALLED_ONLY, _nrt=False, forceinline=True)(python)))


#: Inlined by Numba, for a function that returns a slice: a function compiled separately would have to count references
#: to it.
slicing = njit(**_OPTIONS, inline="always")

#: Converts a non-negative number to an index. A signed index costs three more instructions, which handle negative ones.
index = np.uint64


@intrinsic
def pick(typing_context: Any, condition: Any, yes: Any, no: Any) -> Any:
    """Return ``yes if condition else no`` for two numbers of one type, without a branch.

    The compiler turns most selections into branches. If the condition is random, every second or third branch is
    mispredicted, which costs as much as some fifty instructions.
    """

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        selected = builder.select(*arguments)
        selected.set_metadata("unpredictable", builder.module.add_metadata([]))
        return selected

    if condition != types.boolean or yes != no:
        raise numba.TypingError(
            f"pick: expected a boolean and two values of one type, found {condition}, {yes}, {no}"
        )
    return yes(condition, yes, no), emit


_ONE_AT_A_TIME = threading.RLock()
#: Thresholds of garbage collection during a compilation. Python's own take a tenth longer.
_SELDOM = (50_000, 20, 100)


@dataclass(frozen=True, slots=True)
class FirstClass(types.WrapperAddressProtocol):  # type: ignore[misc]
    """Addresses of a compiled function, in the form in which Numba accepts a function as an argument.

    ``address`` is the address of the C wrapper, ``entry`` that of the machine code itself.
    """

    address: int
    entry: int
    kind: Any

    def __wrapper_address__(self) -> int:
        return self.address

    def signature(self) -> Any:
        """Return its signature."""
        return self.kind


@dataclass(frozen=True, eq=False)
class Kernel:
    """A function compiled for one signature.

    Parameters
    ----------
    python
        The Python function, with its docstring.
    signature
        The Numba signature.
    allocates
        False if neither the function nor anything that it calls allocates an array. Its arrays are then not reference
        counted; in an event loop over thirty arrays, the counting takes three quarters of the time.

    Examples
    --------
    >>> from windlass.order.site.policies.fcfs import Fcfs
    >>> callable(Fcfs.select.ready())
    True
    """

    python: Callable[..., Any]
    signature: Any
    allocates: bool = True

    def ready(self) -> Any:
        """Return the compiled function, from the cache or compiled now; a long compilation is reported."""
        return self._ready

    def entry(self) -> Any:
        """Return the compiled function without the check of its arguments' types.

        The check takes 10 µs for each array of records. Without it, arguments must match the signature exactly.
        """
        return self._entry

    def as_argument(self) -> FirstClass:
        """Return the function as an argument for another one; passing the function itself costs 0.2 ms a call."""
        return self._first_class

    @functools.cached_property
    def _entry(self) -> Any:
        return next(iter(self.ready().overloads.values())).entry_point

    @functools.cached_property
    def _first_class(self) -> FirstClass:
        found = self.ready().get_compile_result(self.signature)
        address, entry = (
            found.library.get_pointer_to_function(name)
            for name in (found.fndesc.llvm_cfunc_wrapper_name, found.fndesc.llvm_func_name)
        )
        return FirstClass(address, entry, self.signature)

    def depends(self) -> Dependencies:
        """Return the cache key of the kernel and the functions that are compiled with it.

        Raises
        ------
        NotFollowedError
            The function refers to something whose changes cannot be detected; it is then not cached.
        """
        return dependencies(self._dispatcher, self.signature)

    def uncompiled(self) -> tuple[Any, ...]:
        """Return the functions that must still be compiled, its own first; empty if it is ready or cached."""
        if self._dispatcher.overloads:
            return ()
        try:
            found = self.depends()
        except NotFollowedError as problem:
            name = f"{self.python.__module__}.{self.python.__qualname__}"
            warnings.warn(
                f"{name} cannot be cached and is recompiled in every process: it refers to {problem}",
                stacklevel=2,
            )
            return (self._dispatcher,)
        name = f"{self.python.__module__}.{self.python.__qualname__}"
        cache = KernelCache(cache_folder(), name, found.key)
        self._dispatcher._cache = cache
        return () if cache.path.exists() else found.functions

    def is_cached(self) -> bool:
        """Return whether its compilation is written to the cache; known after :meth:`uncompiled`."""
        return isinstance(self._dispatcher._cache, KernelCache)

    def compile(self, *, wait: bool = True) -> bool:
        """Load the function from the cache, or compile it; returns whether it is ready.

        Parameters
        ----------
        wait
            Whether to wait if another process compiles the function now. Without waiting it may not be ready.
        """
        with _ONE_AT_A_TIME:
            if self._dispatcher.overloads:
                return True
            with self._turn(wait) as is_mine:
                if is_mine:
                    self._dispatcher.compile(self.signature)
                    self._dispatcher.disable_compile()
            return is_mine

    def _turn(self, wait: bool) -> contextlib.AbstractContextManager[bool]:
        cache = self._dispatcher._cache
        if isinstance(cache, KernelCache) and not cache.path.exists():
            return compiling(cache.path, wait=wait)
        return contextlib.nullcontext(True)

    @functools.cached_property
    def _ready(self) -> Any:
        if not self._dispatcher.overloads:
            prepare([self])
        return self._dispatcher

    @functools.cached_property
    def _dispatcher(self) -> Any:
        nrt = {} if self.allocates else {"_nrt": False}
        return _for_types(njit(**_OPTIONS, **nrt, pipeline_class=KernelCompiler)(self.python))


def prepare(
    kernels: Iterable[Kernel], report: Callable[[Compiling], None] | None = None, *, quiet: bool = False
) -> None:
    """Load or compile the kernels that are not ready yet.

    If ``report`` is not given, or standard error is not a terminal, one line on standard error announces a
    compilation that takes longer than a second.

    Parameters
    ----------
    kernels
        Kernels to prepare.
    report
        Called with the progress, if anything has to be compiled.
    quiet
        Whether to omit that line.

    Examples
    --------
    >>> from windlass.order.site.policies.fcfs import Fcfs
    >>> prepare([Fcfs.select], quiet=True)
    """
    given = list(kernels)
    for kernel in given:
        if not isinstance(kernel, Kernel):
            raise InputError(f"a compiled function is {kernel!r:.80}, expected a Kernel")
    uncompiled = {kernel: kernel.uncompiled() for kernel in given}
    functions = {id(function): function for each in uncompiled.values() for function in each}.values()
    missing = [function for function in functions if not function.overloads]
    with contextlib.ExitStack() as stack:
        if missing:
            if not quiet and (report is None or not sys.stderr.isatty()):
                stack.enter_context(announce(len(missing)))
            counter = stack.enter_context(counting(missing, report or (lambda _: None)))
            stack.enter_context(_little_collection())
            _compile_by_processes(
                {kernel: each for kernel, each in uncompiled.items() if each}, missing, counter
            )
            stack.enter_context(event.install_listener("numba:compile", counter))
        _compile_all(uncompiled)


def _compile_by_processes(
    uncompiled: dict[Kernel, tuple[Any, ...]], missing: list[Any], counter: Counter
) -> None:
    """Let processes compile what can be cached; the caller then finds it in the cache.

    Kernels of one package have many helpers in common. One process compiles all of them, so that it infers the types
    of each helper once.
    """
    if not is_writable(cache_folder()):
        return
    packages: dict[str, list[Kernel]] = {}
    for kernel, functions in uncompiled.items():
        if functions and kernel.is_cached():
            packages.setdefault(".".join(kernel.python.__module__.split(".")[:3]), []).append(kernel)
    compilers = [functools.partial(_compile_all, kernels) for kernels in packages.values()]
    weights = [
        len({id(function) for kernel in kernels for function in uncompiled[kernel]})
        for kernels in packages.values()
    ]
    with _ONE_AT_A_TIME:
        compile_by_processes(compilers, weights, missing, counter.count, processors())


def _compile_all(kernels: Iterable[Kernel]) -> None:
    """Compile kernels. Those that other processes compile now are left to the end, and then loaded."""
    for kernel in [each for each in kernels if not each.compile(wait=False)]:
        kernel.compile()


@contextlib.contextmanager
def _little_collection() -> Iterator[None]:
    """Exclude existing objects from garbage collection, which otherwise takes a fifth of the compile time.

    New objects are collected seldom, which takes up to 60 MB more.
    """
    is_frozen, thresholds = gc.get_freeze_count() > 0, gc.get_threshold()
    if not is_frozen:
        gc.freeze()
    if thresholds[0]:
        gc.set_threshold(*_SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        if not is_frozen:
            gc.unfreeze()
