"""Decoding of Slurm's JSON, with one line for what Slurm reports or what cannot be read."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from windlass.engines.slurm.misfits import describe_misfit, release_in
from windlass.model import BatchError

_Tree = TypeVar("_Tree")


def decode_output(decoder: msgspec.json.Decoder[_Tree], data: bytes, command: str) -> _Tree:
    """Decode the output of a command.

    Parameters
    ----------
    decoder
        Decodes the fields that are needed.
    data
        The output.
    command
        The command, for messages.

    Raises
    ------
    BatchError
        The output is empty or no JSON, or a field has an unknown shape; the message names it.

    Examples
    --------
    >>> decode_output(msgspec.json.Decoder(list[int]), b"[1, 2", "squeue --json")
    Traceback (most recent call last):
    windlass.model.errors.BatchError: squeue --json: the output is not valid JSON: Input data was truncated
    """
    if not data.strip():
        raise BatchError(f"{command}: it printed nothing, expected JSON")
    try:
        return decode_loosely(decoder, data)
    except msgspec.ValidationError as error:
        misfit = error
    except (msgspec.DecodeError, RecursionError) as error:
        raise _invalid(command, error) from error
    try:
        plain = as_utf8(data)
        release, why = release_in(msgspec.json.decode(plain)), describe_misfit(plain, misfit)
    except (msgspec.DecodeError, RecursionError) as error:
        # The first field that does not fit came before the place where the JSON breaks.
        raise _invalid(command, error) from error
    raise shape_error(command, release, why)


def decode_loosely(decoder: msgspec.json.Decoder[_Tree], data: bytes | memoryview) -> _Tree:
    """Decode JSON in which names of jobs may have bytes that are not UTF-8; errors are those of msgspec."""
    try:
        return decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        # Releases of msgspec before 0.23 raise the second, later ones the first, as for other faults.
        if isinstance(error, msgspec.ValidationError) or is_utf8(data):
            raise
    return decoder.decode(as_utf8(data))


def is_utf8(data: bytes | bytearray | memoryview) -> bool:
    """Return whether text is UTF-8.

    >>> is_utf8("ä".encode()), is_utf8(b"a\\xff")
    (True, False)
    """
    try:
        codecs.decode(data, "utf-8")
    except UnicodeDecodeError:
        return False
    return True


def as_utf8(data: bytes | bytearray | memoryview) -> bytes:
    """Return text with a replacement character for each byte that is not UTF-8.

    >>> as_utf8(b"a\\xff").decode() == "a\\ufffd"
    True
    """
    return bytes(data).decode(errors="replace").encode()


def shape_error(command: str, release: str, why: str) -> BatchError:
    """Return the error for output of an unknown shape; the release may be unknown, too."""
    return BatchError(f"{command}{f' of Slurm {release}' if release else ''} cannot be read: {why}")


def check_errors(errors: Any, usable: bool, command: str) -> tuple[str, ...]:
    """Return Slurm's errors, a line each, if its list can be used all the same.

    Without its controller, Slurm 22.05 lists no jobs and exits with status 0; only the errors show it. Errors of the
    accounting database leave the list complete, even an empty one.

    Parameters
    ----------
    errors
        The field ``errors`` of the output.
    usable
        Whether the list has entries.
    command
        The command, for messages.

    Raises
    ------
    BatchError
        The list has no entries, and an error is not of the accounting database.
    """
    found = _errors(errors)
    if not usable and any(not str(error.get("source", "")).startswith("slurmdb") for error in found):
        raise_errors(errors, command)
    return tuple(dict.fromkeys(map(_message, found)))


def raise_errors(errors: Any, command: str) -> None:
    """Raise Slurm's errors, if there are any.

    Raises
    ------
    BatchError
        There are errors; the message has all of them.
    """
    if found := _errors(errors):
        raise BatchError(f"{command}: {'; '.join(dict.fromkeys(map(_message, found)))}")


def _invalid(command: str, error: Exception) -> BatchError:
    return BatchError(f"{command}: the output is not valid JSON: {' '.join(str(error).split())}")


def _errors(errors: Any) -> list[Mapping[str, Any]]:
    if not isinstance(errors, list):
        return []
    return [error if isinstance(error, dict) else {"description": str(error)} for error in errors]


def _message(error: Mapping[str, Any]) -> str:
    parts = [str(error[key]) for key in ("description", "error") if error.get(key)]
    return ": ".join(dict.fromkeys(parts)) or str(error)
