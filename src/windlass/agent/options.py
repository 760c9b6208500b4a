"""Options of an agent and an aggregator."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path

from windlass.agent.default import POLICY
from windlass.engines.address import is_ip, is_port, is_url, shorten
from windlass.engines.linux.telemetry.source import Roots
from windlass.model import InputError
from windlass.model.values import number

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
#: How HAProxy drains a server: by its administrative state, or by its weight alone.
DRAINS = ("state", "weight")
#: How a Kubernetes node is marked.
MARKS = ("off", "label", "taint")


@dataclass(frozen=True, slots=True)
class Address:
    """An IP address and port to listen on.

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
        """Parse an option's value.

        Raises
        ------
        InputError
            It is not an address.
        """
        host, _, port = text.rpartition(":")
        if not is_ip(host) or not (is_port(port) or port == "0"):
            raise InputError(
                f"{option} is '{shorten(text)}', expected an IP address and a port, such as 127.0.0.1:9090"
            )
        return cls(host.strip("[]"), int(port))

    @property
    def url(self) -> str:
        """The URL of an HTTP server at this address."""
        return f"http://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Above:
    """The aggregator to join.

    Parameters
    ----------
    url
        Its URL, such as ``http://10.0.0.1:9092``.
    name
        The name of the joining agent in the tree.
    every
        Interval at which learned state is sent if it has changed, s.
    epsilon
        The change that counts, see :meth:`windlass.admit.Subspace.moved`.
    """

    url: str
    name: str
    every: float = 30.0
    epsilon: float = 0.02

    def __post_init__(self) -> None:
        if not is_url(self.url):
            raise InputError(f"--join is '{shorten(self.url)}', expected a URL such as http://10.0.0.1:9092")
        check_name("--name", self.name)
        number("--join-every", self.every, 0.0, open_below=True)


def check_name(option: str, name: str) -> None:
    """Check a node's name.

    Raises
    ------
    InputError
        The name is invalid.
    """
    if not _NAME.fullmatch(name):
        raise InputError(f"{option} is '{name:.80}', expected up to 64 letters, digits, dots, - and _")


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """Options of ``windlass agent run``.

    Parameters
    ----------
    listen, check
        Addresses of the HTTP server and of HAProxy's agent-check; None for no agent-check.
    policy, downtime
        The policy, and the share of time in which it may reject; None for its default.
    guard
        Limit of CPU Ready; see :class:`~windlass.agent.guard.Guard`.
    every
        Length of a step, s.
    state, save_every
        The file of learned state, and the interval between saves, s.
    drain
        One of :data:`DRAINS`.
    above
        The aggregator to join.
    mark, node
        One of :data:`MARKS`, and the Kubernetes node.
    roots
        The mount points of procfs and cgroups.

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
        """Age from which the last step is ignored, s."""
        return max(5.0, 5.0 * self.every)


@dataclass(frozen=True, slots=True)
class AggregatorOptions:
    """Options of ``windlass agent aggregate``.

    Parameters
    ----------
    listen
        The address of the HTTP server.
    rank
        The most directions of the merged subspace.
    forget_after
        An agent that has sent nothing for this long is forgotten, s.
    state, save_every
        The file of received messages, and the interval between saves, s.
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
