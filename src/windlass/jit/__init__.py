"""Compiled functions with a fixed signature, compiled on first use, cached on disk, and announced.

A :class:`Kernel` pairs a function with the one signature it is compiled for. Nothing is compiled at import;
:func:`prepare` does it, so that a command can report progress and a benchmark can leave it out.
A fixed signature is also what lets one compiled event loop take any policy as a function argument and still
be cached.

- :mod:`~windlass.jit.depends`: what a function depends on, which is its key in the cache.
- :mod:`~windlass.jit.bytecode`, :mod:`~windlass.jit.target`: what its own code refers to, and how it is compiled.
- :mod:`~windlass.jit.cache`: the files.
- :mod:`~windlass.jit.codegen`: compiling what a kernel calls only once, inside it.
- :mod:`~windlass.jit.names`: names that no two of them share.
- :mod:`~windlass.jit.progress`: how far compiling is.
- :mod:`~windlass.jit.schema`: compiled state, declared once.
- :mod:`~windlass.jit.compiled`: what a policy has compiled ahead of a run.
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
from numba.extending import intrinsic

from windlass.jit.bytecode import NotFollowedError
from windlass.jit.cache import KernelCache, cache_folder
from windlass.jit.codegen import HelperCompiler, KernelCompiler, called_only
from windlass.jit.depends import Dependencies, dependencies
from windlass.jit.names import distinguish
from windlass.jit.progress import Compiling as Compiling
from windlass.jit.progress import announced, counted

distinguish()

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
#: For what only compiled functions call: wrappers for a call from Python take as long to compile as the function.
_CALLED_ONLY: dict[str, Any] = {
    **_OPTIONS,
    "pipeline_class": HelperCompiler,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}


def _for_types(dispatcher: Any) -> Any:
    """Return the same, compiled once for a type: Numba would compile it again for each constant argument."""
    typed = dispatcher.get_call_template

    def template(args: Any, kws: Any) -> Any:
        plain = {name: types.unliteral(kind) for name, kind in kws.items()}
        return typed(tuple(types.unliteral(kind) for kind in args), plain)

    dispatcher.get_call_template = template
    return dispatcher


def helper(python: Callable[..., Any]) -> Any:
    """Compiles a helper that other compiled functions call; it needs no signature of its own."""
    return _for_types(called_only(njit(**_CALLED_ONLY)(python)))


def allocating(python: Callable[..., Any]) -> Any:
    """The same for one that makes arrays, whoever calls it: without this, Numba gives it its caller's ways."""
    return _for_types(called_only(njit(**_CALLED_ONLY, _nrt=True)(python)))


def lean(python: Callable[..., Any]) -> Any:
    """The same for one that neither makes an array nor gets one from what it calls: nothing is reference counted.

    Where arrays come in records of dozens, as a world's do, most of the compiling is of that counting.
    """
    return _for_types(called_only(njit(**_CALLED_ONLY, _nrt=False)(python)))


def inlined(python: Callable[..., Any]) -> Any:
    """The same as :func:`lean` for small functions in the innermost loops, copied into their callers.

    The compiler copies machine code. Numba's own copies, made before types are known, have the types of each worked
    out anew: with them the loop of small tasks took twice as long to compile, and ran no faster.
    """
    return _for_types(called_only(njit(**_CALLED_ONLY, _nrt=False, forceinline=True)(python)))


#: Numba's own way, for a function that returns a slice: one that is compiled by itself may not without counting it.
slicing = njit(**_OPTIONS, inline="always")

#: Makes an index of a number that is not negative: one that might be costs three instructions to wrap around.
index = np.uint64


@intrinsic
def pick(typing_context: Any, condition: Any, yes: Any, no: Any) -> Any:
    """``yes if condition else no`` of two numbers of one type, without a branch.

    The compiler makes a branch of most selections. Where chance decides, every second or third of those is
    mispredicted, which costs as much as some fifty instructions.
    """

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        selected = builder.select(*arguments)
        selected.set_metadata("unpredictable", builder.module.add_metadata([]))
        return selected

    if condition != types.boolean or yes != no:
        raise numba.TypingError(
            f"pick: expected a boolean and two of one type, found {condition}, {yes}, {no}"
        )
    return yes(condition, yes, no), emit


_ONE_AT_A_TIME = threading.RLock()


@dataclass(frozen=True, slots=True)
class FirstClass(types.WrapperAddressProtocol):  # type: ignore[misc]
    """Where a compiled function is: what Numba wants to know of one that is an argument.

    ``address`` is that of a wrapper for C, ``entry`` that of the machine code itself.
    """

    address: int
    entry: int
    kind: Any

    def __wrapper_address__(self) -> int:
        return self.address

    def signature(self) -> Any:
        """Its signature."""
        return self.kind


@dataclass(frozen=True, eq=False)
class Kernel:
    """A function compiled for one signature.

    Parameters
    ----------
    python
        The function as written; its docstring documents it.
    signature
        The Numba signature.
    allocates
        False where the function makes no array, nor calls anything that does. Its arrays are then not reference
        counted: in an event loop over thirty arrays, the counting takes three quarters of the time.

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
        """The compiled function, loaded from the cache or compiled now; a long compilation is reported."""
        return self._ready

    def entry(self) -> Any:
        """The compiled function without the look at its arguments' types, which takes 10 µs for each array of records.

        Its arguments must match the signature exactly.
        """
        return self._entry

    def as_argument(self) -> FirstClass:
        """The compiled function as an argument of another: handing the function itself over costs 0.2 ms a call."""
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
        """What it depends on.

        Raises
        ------
        NotFollowedError
            It refers to something whose changes cannot be detected; it is not cached then.
        """
        return dependencies(self._dispatcher, self.signature)

    def left(self) -> tuple[Any, ...]:
        """The functions to compile before it can be used, itself first; none where it is ready or cached."""
        if self._dispatcher.overloads:
            return ()
        try:
            found = self.depends()
        except NotFollowedError as problem:
            name = f"{self.python.__module__}.{self.python.__qualname__}"
            warnings.warn(f"{name} is compiled anew in every process: it refers to {problem}", stacklevel=2)
            return (self._dispatcher,)
        name = f"{self.python.__module__}.{self.python.__qualname__}"
        cache = KernelCache(cache_folder(), name, found.key)
        self._dispatcher._cache = cache
        return () if cache.path.exists() else found.functions

    def compile(self) -> None:
        """Load it from the cache, or compile it."""
        with _ONE_AT_A_TIME:
            if not self._dispatcher.overloads:
                self._dispatcher.compile(self.signature)
                self._dispatcher.disable_compile()

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
    """Load or compile what is not ready yet.

    Where no report is given, or standard error is no terminal on which to draw one, a line on standard error says
    what is waited for, once that takes longer than a second.

    Parameters
    ----------
    kernels
        Kernels to prepare.
    report
        Called with the progress of compiling, if anything has to be compiled.
    quiet
        Leave the line out.

    Examples
    --------
    >>> from windlass.order.site.policies.fcfs import Fcfs
    >>> prepare([Fcfs.select], quiet=True)
    """
    waiting = {kernel: kernel.left() for kernel in kernels}
    functions = {id(function): function for left in waiting.values() for function in left}.values()
    missing = [function for function in functions if not function.overloads]
    with contextlib.ExitStack() as told:
        if missing and not quiet and (report is None or not sys.stderr.isatty()):
            told.enter_context(announced(len(missing)))
        if missing and report is not None:
            told.enter_context(counted(missing, report))
        if missing:
            told.enter_context(_old_left_alone())
        for kernel in waiting:
            kernel.compile()


@contextlib.contextmanager
def _old_left_alone() -> Iterator[None]:
    """Objects that are there are not looked through for garbage: compiling makes so many that it takes a fifth."""
    if gc.get_freeze_count():
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
