"""Decoding of Slurm's JSON, with one line for what Slurm reports or what cannot be read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from windlass.engines.slurm.misfits import describe_misfit, release_in
from windlass.model import BatchError

_Tree = TypeVar("_Tree")


def decoded(decoder: msgspec.json.Decoder[_Tree], data: bytes, command: str) -> _Tree:
    if not data.strip():
        raise BatchError(f"{command}: it printed nothing, expected JSON")
    try:
        return tolerant(decoder, data)
    except msgspec.ValidationError as error:
        misfit = error
    except (msgspec.DecodeError, RecursionError) as error:
        raise _invalid(command, error) from error
    try:
        plain = valid(data)
        release, why = release_in(msgspec.json.decode(plain)), describe_misfit(plain, misfit)
    except (msgspec.DecodeError, RecursionError) as error:
        # The first field that does not fit came before the place where the JSON breaks.
        raise _invalid(command, error) from error
    raise unreadable(command, release, why)


def _invalid(command: str, error: Exception) -> BatchError:
    return BatchError(f"{command}: the output is not valid JSON: {' '.join(str(error).split())}")


def tolerant(decoder: msgspec.json.Decoder[_Tree], data: bytes | memoryview) -> _Tree:
    """Decode JSON in which names of jobs may have bytes that are not UTF-8."""
    try:
        return decoder.decode(data)
    except UnicodeDecodeError:
        return decoder.decode(valid(data))


def valid(data: bytes | bytearray | memoryview) -> bytes:
    return bytes(data).decode(errors="replace").encode()


def unreadable(command: str, release: str, why: str) -> BatchError:
    return BatchError(f"{command}{f' of Slurm {release}' if release else ''} cannot be read: {why}")


def notices(errors: Any, usable: bool, command: str) -> tuple[str, ...]:
    """Return Slurm's errors if the list is usable all the same; raise them otherwise.

    Without its controller, Slurm 22.05 lists no jobs and exits with status 0; only the errors show it. Errors of the
    accounting database leave the list complete.
    """
    found = _errors(errors)
    if not usable and any(not str(error.get("source", "")).startswith("slurmdb") for error in found):
        raise_errors(errors, command)
    return tuple(dict.fromkeys(_message(error) for error in found))


def raise_errors(errors: Any, command: str) -> None:
    if found := _errors(errors):
        raise BatchError(f"{command}: {'; '.join(dict.fromkeys(map(_message, found)))}")


def _errors(errors: Any) -> list[Mapping[str, Any]]:
    if not isinstance(errors, list):
        return []
    return [error if isinstance(error, dict) else {"description": str(error)} for error in errors]


def _message(error: Mapping[str, Any]) -> str:
    parts = [str(error[key]) for key in ("description", "error") if error.get(key)]
    return ": ".join(dict.fromkeys(parts)) or str(error)
