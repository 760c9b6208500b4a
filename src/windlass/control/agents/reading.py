"""What a node agent answers over HTTP: whether its machine takes a task, why, and how busy it is."""

from __future__ import annotations

import http.client
import re
from dataclasses import dataclass

from windlass.agent.options import Address
from windlass.model import InputError

#: Time for an agent to answer a request, s.
_PATIENCE_S = 2.0
#: The most bytes of an answer that are read.
_MOST_BYTES = 1 << 20
#: The first line of the answer of ``/accept``.
_ACCEPT = re.compile(r"(accept|reject): (.*)")
#: A line of ``/metrics`` without a label, or with the label ``name``.
_METRIC = re.compile(r'windlass_(\w+)(?:\{name="((?:[^"\\]|\\.)*)"\})? (\S+)')


@dataclass(frozen=True, slots=True)
class AgentReading:
    """The answer of an agent.

    Parameters
    ----------
    accepts, why
        Whether its machine takes a task, and the reason.
    policy
        The admission policy; empty if the agent does not name it.
    cores
        Cores of the machine; 0 if the agent does not count them.
    busy
        Used share of the time of all cores, 0 to 1.
    """

    accepts: bool
    why: str
    policy: str = ""
    cores: int = 0
    busy: float = 0.0


def read_agent(address: Address) -> AgentReading:
    """Read the pages ``/accept`` and ``/metrics`` of an agent.

    Parameters
    ----------
    address
        Where it listens.

    Raises
    ------
    InputError
        It does not answer within two seconds, or is not an agent.
    """
    connection = http.client.HTTPConnection(address.host, address.port, timeout=_PATIENCE_S)
    try:
        return reading_of(_page(connection, "/accept"), _page(connection, "/metrics"))
    except (OSError, http.client.HTTPException) as error:
        why = " ".join((str(error) or type(error).__name__).split())
        raise InputError(f"the agent does not answer: {why}") from error
    finally:
        connection.close()


def reading_of(accept: str, metrics: str) -> AgentReading:
    """Return what the texts of two pages say.

    Parameters
    ----------
    accept, metrics
        The texts.

    Raises
    ------
    InputError
        They are not those of an agent.

    Examples
    --------
    >>> metrics = 'windlass_cores 4.0\\nwindlass_busy 0.25\\nwindlass_policy{name="rising"} 1.0\\n'
    >>> reading_of("reject: CPU Ready is 1.48, the guard's limit 0.5\\n", metrics)
    AgentReading(accepts=False, why="CPU Ready is 1.48, the guard's limit 0.5", policy='rising', cores=4, busy=0.25)
    """
    found = _ACCEPT.match(accept)
    if found is None:
        raise InputError(f"the answer is {accept[:40]!r}, expected an agent's accept or reject with a reason")
    values, policy = dict[str, float](), ""
    for line in metrics.splitlines():
        hit = _METRIC.fullmatch(line)
        if hit is None:
            continue
        if hit[2] is None:
            values[hit[1]] = _number(hit[3])
        elif hit[1] == "policy":
            policy = re.sub(r"\\(.)", lambda each: "\n" if each[1] == "n" else each[1], hit[2])
    cores, busy = values.get("cores", 0.0), values.get("busy", 0.0)
    return AgentReading(
        found[1] == "accept", found[2], policy, int(max(cores, 0.0)), min(max(busy, 0.0), 1.0)
    )


def _number(text: str) -> float:
    """Return a finite number; 0 for anything else."""
    try:
        value = float(text)
    except ValueError:
        return 0.0
    return value if abs(value) < float("inf") else 0.0


def _page(connection: http.client.HTTPConnection, path: str) -> str:
    connection.request("GET", path)
    answer = connection.getresponse()
    text = answer.read(_MOST_BYTES).decode("utf-8", "replace")
    # A rejection has the status 503, too.
    if answer.status not in (200, 503):
        raise InputError(f"{path} answers {answer.status}, expected an agent")
    # An answer that was not read to its end would block the next request.
    if not answer.isclosed():
        connection.close()
    return text
