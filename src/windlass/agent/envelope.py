"""The byte format of learned state, in files and in the messages between agents and aggregators.

The body of a container of :mod:`windlass.io.saved_state` starts with a line of JSON: the header, which names the policy
and the metrics and lists the parts. The parts follow; each is in a container of its own, see :mod:`windlass.admit`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from windlass.io import seal, unseal
from windlass.io.field_errors import field_error
from windlass.model import InputError

_CONTAINER = "agent"
#: Most bytes of a header.
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
    """A part: its name and its content."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Envelope:
    """Learned state: named parts, with the policy and the metrics to which they belong.

    Parameters
    ----------
    kind
        State file of an agent, state file of an aggregator, or message with learned state.
    policy
        Name of the policy; empty from an aggregator.
    metrics
        Digest of the names of the metrics, see :func:`digest`.
    parts
        The parts, in order; a name may occur more than once.

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
        """Return the content of the first part with a name, or None."""
        return next((each.data for each in self.parts if each.name == name), None)

    def seal(self) -> bytes:
        """Return the envelope as bytes, which :func:`opened` reads."""
        listed = [_Part(name=each.name, size=len(each.data)) for each in self.parts]
        header = _Header(kind=self.kind, policy=self.policy, metrics=self.metrics, parts=listed)
        rest = b"\n".join([header.model_dump_json().encode(), b"".join(each.data for each in self.parts)])
        return seal(_CONTAINER, rest)

    def check(self, kind: Kind, metrics: str) -> None:
        """Check that the envelope is of this kind, and that its metrics have this digest.

        Raises
        ------
        InputError
            The kind or the digest differs.
        """
        if self.kind != kind:
            raise InputError(f"is of kind '{self.kind}', expected '{kind}'")
        if self.metrics != metrics:
            raise InputError(f"has metrics with digest '{self.metrics:.40}', expected '{metrics}'")


def opened(data: bytes) -> Envelope:
    """Return the envelope from the bytes that :meth:`Envelope.seal` returned.

    Raises
    ------
    InputError
        The bytes are not an envelope, or are truncated or corrupt; the message is one line.
    """
    line, newline, payload = unseal(data, _CONTAINER).partition(b"\n")
    try:
        header = _Header.model_validate_json(line[:_LONGEST])
    except ValidationError as error:
        raise InputError(f"saved state: header: {field_error(error)}") from error
    if not newline or sum(each.size for each in header.parts) != len(payload):
        raise InputError(
            f"saved state: has {len(payload)} bytes of parts, which differs from the sizes in its header"
        )
    parts, at = [], 0
    for each in header.parts:
        parts.append(EnvelopePart(each.name, payload[at : at + each.size]))
        at += each.size
    return Envelope(header.kind, header.policy, header.metrics, tuple(parts))


def is_agent_file(data: bytes) -> bool:
    """Return whether a file that cannot be opened is an agent's: it starts like an envelope, or is empty.

    Examples
    --------
    >>> is_agent_file(b"windlass-agent 1 00000000"), is_agent_file(b"[Unit]")
    (True, False)
    """
    return data.startswith(b"windlass-agent ") or not data


def digest(names: Sequence[str]) -> str:
    """Return a digest of metrics' names in order; machines with the same digest can share what they learned.

    Examples
    --------
    >>> digest(("a", "b")) == digest(("b", "a"))
    False
    """
    return hashlib.sha256("\n".join(names).encode()).hexdigest()[:16]
