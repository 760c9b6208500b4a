"""Bytecode of a function: the constants that it loads and the names that it looks up."""

from __future__ import annotations

import dis
import functools
from dataclasses import dataclass
from types import CodeType
from typing import Any


class NotFollowedError(Exception):
    """A function refers to something whose changes cannot be detected; the message names it."""


@dataclass(frozen=True, slots=True)
class Bytecode:
    """A decoded code object: its instructions, the constants that they load, and the names that they look up."""

    instructions: str
    constants: tuple[Any, ...]
    paths: tuple[tuple[str, ...], ...]
    names: tuple[str, ...]


@functools.cache
def read(code: CodeType) -> Bytecode:
    """Decode a code object.

    Raises
    ------
    NotFollowedError
        The code imports a module or assigns to a global variable.

    Examples
    --------
    >>> read(compile("math.pi + 1", "", "eval")).paths
    (('math', 'pi'),)
    """
    instructions: list[str] = []
    constants: list[Any] = []
    paths: list[tuple[str, ...]] = []
    names: list[str] = []
    follows = False
    for step in dis.get_instructions(code):
        attribute = step.opname in ("LOAD_ATTR", "LOAD_METHOD")
        if step.opcode in dis.hasconst:
            # `argval` is unknown for some of these opcodes, such as KW_NAMES.
            constants.append(code.co_consts[step.arg or 0])
            names += [constants[-1]] if isinstance(constants[-1], str) else []
            instructions.append(step.opname)
        else:
            instructions.append(
                f"{step.opname} {step.arg} {step.argval if step.opcode in dis.hasname else ''}"
            )
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            paths.append((step.argval,))
        elif attribute:
            names.append(step.argval)
            if follows:
                paths[-1] = (*paths[-1], step.argval)
        if step.opname in ("IMPORT_NAME", "STORE_GLOBAL"):
            raise NotFollowedError(f"{step.opname} in {code.co_qualname}")
        follows = step.opname in ("LOAD_GLOBAL", "LOAD_NAME") or (attribute and follows)
    return Bytecode("\n".join(instructions), tuple(constants), tuple(dict.fromkeys(paths)), tuple(names))
