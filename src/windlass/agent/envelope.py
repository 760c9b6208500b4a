"""What an agent or an aggregator has learned, as bytes: a file that is kept, or a message of the tree.

The first line says what it is, and has a checksum of the rest; the second, in JSON, says of which policy and metrics it
is, and lists the parts, which follow. Parts are bytes of :mod:`windlass.admit`, with a version and checksum of their
own.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from windlass.model import InputError

_FIRST = re.compile(rb"windlass-agent 1 ([0-9a-f]{8})\n")
#: Longer headers are not looked at.
_LONGEST = 1 << 20

Kind = Literal["agent", "aggregator", "learned"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: str
    size: Annotated[int, Field(ge=0)]


class _Header(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    kind: Kind
    policy: str
    metrics: str
    parts: list[_Part]


@dataclass(frozen=True, slots=True)
class EnvelopePart:
    """Named bytes."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Envelope:
    """Parts, and of what they are.

    Parameters
    ----------
    kind
        Who wrote it and what for.
    policy
        The policy's name; empty where it is of none.
    metrics
        Which metrics it is of, as of :func:`digest`.
    parts
        In order; names may come twice.

    Examples
    --------
    >>> sealed = Envelope("agent", "pronto", digest(("a", "b")), (EnvelopePart("node", b"abc"),)).seal()
    >>> opened(sealed).part("node")
    b'abc'
    """

    kind: Kind
    policy: str
    metrics: str
    parts: tuple[EnvelopePart, ...]

    def part(self, name: str) -> bytes | None:
        """The first part of a name, or None."""
        return next((each.data for each in self.parts if each.name == name), None)

    def seal(self) -> bytes:
        """As bytes."""
        listed = [_Part(name=each.name, size=len(each.data)) for each in self.parts]
        header = _Header(kind=self.kind, policy=self.policy, metrics=self.metrics, parts=listed)
        rest = b"\n".join([header.model_dump_json().encode(), b"".join(each.data for each in self.parts)])
        return b"windlass-agent 1 %08x\n" % zlib.crc32(rest) + rest

    def check(self, kind: Kind, metrics: str) -> None:
        """That it is of this kind and of these metrics.

        Raises
        ------
        InputError
            It is not.
        """
        if self.kind != kind:
            raise InputError(f"is of kind '{self.kind}', expected '{kind}'")
        if self.metrics != metrics:
            raise InputError(f"is of other metrics ({self.metrics:.40}), expected {metrics}")


def opened(data: bytes) -> Envelope:
    """What :meth:`Envelope.seal` wrote.

    Raises
    ------
    InputError
        It is not that, or was cut or changed; one line.
    """
    first = _FIRST.match(data)
    if first is None:
        raise InputError(f"{len(data)} bytes that do not begin with 'windlass-agent 1'")
    rest = data[first.end() :]
    if zlib.crc32(rest) != int(first.group(1), 16):
        raise InputError("its checksum is wrong: it was cut or changed")
    line, newline, payload = rest.partition(b"\n")
    try:
        header = _Header.model_validate_json(line[:_LONGEST])
    except ValidationError as error:
        said = error.errors()[0]
        raise InputError(f"its header: {'.'.join(map(str, said['loc']))}: {said['msg']}") from error
    if not newline or sum(each.size for each in header.parts) != len(payload):
        raise InputError(f"has {len(payload)} bytes of parts, which is not what it lists")
    parts, at = [], 0
    for each in header.parts:
        parts.append(EnvelopePart(each.name, payload[at : at + each.size]))
        at += each.size
    return Envelope(header.kind, header.policy, header.metrics, tuple(parts))


def is_ours(data: bytes) -> bool:
    """Whether a file that cannot be opened was one of ours, and not one of somebody else's.

    >>> is_ours(b"windlass-agent 1 00000000"), is_ours(b"[Unit]")
    (True, False)
    """
    return data.startswith(b"windlass-agent ") or not data


def digest(names: Sequence[str]) -> str:
    """A short name for metrics in their order: two machines with the same one can share what they learned.

    >>> digest(("a", "b")) == digest(("b", "a"))
    False
    """
    return hashlib.sha256("\n".join(names).encode()).hexdigest()[:16]
