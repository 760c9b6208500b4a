"""What a user may say to an agent or an aggregator."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path

from windlass.agent.default import POLICY
from windlass.engines.address import is_ip, is_port, is_url, said
from windlass.engines.linux.telemetry.source import Roots
from windlass.model import InputError
from windlass.model.values import number

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
#: How HAProxy is told: by the server's state, or by its weight alone.
DRAINS = ("state", "weight")
#: What is done to a Kubernetes node.
MARKS = ("off", "label", "taint")


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen.

    Examples
    --------
    >>> Address.of("--listen", "127.0.0.1:9090"), Address.of("--listen", "[::1]:0").host
    (Address(host='127.0.0.1', port=9090), '::1')
    >>> Address.of("--listen", "9090")
    Traceback (most recent call last):
    windlass.model.errors.InputError: --listen is '9090', expected an IP address and a port, such as 127.0.0.1:9090
    """

    host: str
    port: int

    @classmethod
    def of(cls, option: str, text: str) -> Address:
        """From an option's value.

        Raises
        ------
        InputError
            It is none.
        """
        host, _, port = text.rpartition(":")
        if not is_ip(host) or not (is_port(port) or port == "0"):
            raise InputError(
                f"{option} is '{said(text)}', expected an IP address and a port, such as 127.0.0.1:9090"
            )
        return cls(host.strip("[]"), int(port))

    @property
    def url(self) -> str:
        """Of the HTTP server there."""
        return f"http://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Above:
    """The aggregator that is joined.

    Parameters
    ----------
    url
        Such as ``http://10.0.0.1:9092``.
    name
        Of who joins; the tree knows it by this.
    every
        How often what was learned is sent, if it has moved, s.
    epsilon
        It has moved if it did by more than this, as of :meth:`windlass.admit.Subspace.moved`.
    """

    url: str
    name: str
    every: float = 30.0
    epsilon: float = 0.02

    def __post_init__(self) -> None:
        if not is_url(self.url):
            raise InputError(f"--join is '{said(self.url)}', expected a URL such as http://10.0.0.1:9092")
        check_name("--name", self.name)
        number("--join-every", self.every, 0.0, open_below=True)


def check_name(option: str, name: str) -> None:
    """That a node can be called so.

    Raises
    ------
    InputError
        It cannot.
    """
    if not _NAME.fullmatch(name):
        raise InputError(f"{option} is '{name:.80}', expected up to 64 letters, digits, dots, - and _")


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """Of ``windlass agent run``.

    Parameters
    ----------
    listen, check
        Where HTTP and HAProxy's agent-check are answered; no ``check`` for no second port.
    policy, downtime
        Which policy decides, and the share of time in which it may reject; None for its own default.
    guard
        Limit of CPU Ready; see :class:`~windlass.agent.guard.Guard`.
    every
        Seconds of a step.
    state, save_every
        Where what was learned is kept, and how often, s.
    drain
        One of :data:`DRAINS`.
    above
        The aggregator to join.
    mark, node
        One of :data:`MARKS`, and the Kubernetes node.
    roots
        Where the kernel shows itself.

    Raises
    ------
    InputError
        A value is out of bounds.
    """

    listen: Address = field(default_factory=lambda: Address("127.0.0.1", 9090))
    check: Address | None = None
    policy: str = POLICY
    downtime: float | None = None
    guard: float = 0.5
    every: float = 1.0
    state: Path | None = None
    save_every: float = 60.0
    drain: str = "state"
    above: Above | None = None
    mark: str = "off"
    node: str = ""
    roots: Roots = field(default_factory=Roots)

    def __post_init__(self) -> None:
        number("--every", self.every, 0.05, 3600.0)
        number("--guard", self.guard, 0.0, math.inf)
        number("--save-every", self.save_every, 0.0, open_below=True)
        for option, value, known in (
            ("--haproxy-by", self.drain, DRAINS),
            ("--kubernetes", self.mark, MARKS),
        ):
            if value not in known:
                raise InputError(f"{option} is '{value}', expected one of {', '.join(known)}")
        if self.mark != "off":
            check_name("--node", self.node)

    @property
    def stale(self) -> float:
        """A step older than this says nothing, s."""
        return max(5.0, 5.0 * self.every)


@dataclass(frozen=True, slots=True)
class AggregatorOptions:
    """Of ``windlass agent aggregate``.

    Parameters
    ----------
    listen
        Where agents come.
    rank
        Directions of the merged subspace at most.
    forget_after
        Who sent nothing for so long is forgotten, s.
    state, save_every
        Where what was sent is kept, and how often, s.
    above
        The aggregator to join in turn.

    Raises
    ------
    InputError
        A value is out of bounds.
    """

    listen: Address = field(default_factory=lambda: Address("127.0.0.1", 9092))
    rank: int = 4
    forget_after: float = 3600.0
    state: Path | None = None
    save_every: float = 10.0
    above: Above | None = None

    def __post_init__(self) -> None:
        number("--forget-after", self.forget_after, 0.0, open_below=True)
        number("--save-every", self.save_every, 0.0, open_below=True)
