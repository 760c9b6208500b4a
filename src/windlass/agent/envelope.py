"""What an agent or an aggregator has learned, as bytes: a file that is kept, or a message of the tree.

In the container of :mod:`windlass.io.saved_state`, the first line is JSON: it names the policy and the metrics, and
lists the parts, which follow. Parts are bytes of :mod:`windlass.admit`, in containers of their own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from windlass.io import seal, unseal
from windlass.model import InputError

_CONTAINER = "agent"
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
        return seal(_CONTAINER, rest)

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
    line, newline, payload = unseal(data, _CONTAINER).partition(b"\n")
    try:
        header = _Header.model_validate_json(line[:_LONGEST])
    except ValidationError as error:
        said = error.errors()[0]
        raise InputError(f"saved state: header: {'.'.join(map(str, said['loc']))}: {said['msg']}") from error
    if not newline or sum(each.size for each in header.parts) != len(payload):
        raise InputError(
            f"saved state: has {len(payload)} bytes of parts, which is not what its header lists"
        )
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
