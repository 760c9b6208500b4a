"""The exchange of learned state with an aggregator; an agent also works without one.

An agent decides locally, so an unreachable aggregator only delays the exchange. Retries follow after 1, 2, 4 … seconds,
at most five minutes; each delay is drawn from its upper half, so that a thousand agents do not retry at the same time.
Only the latest state is sent, and none is queued. After a failure the state is sent again even if it is unchanged, as
the aggregator may have restarted and lost it.
"""

from __future__ import annotations

import http.client
import math
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass

from windlass.admit.learned import Learned
from windlass.agent.envelope import opened
from windlass.agent.node import as_message, from_message
from windlass.agent.options import Above
from windlass.agent.stop import Stop
from windlass.agent.token import Token
from windlass.engines.backoff import Backoff
from windlass.engines.http import direct_opener
from windlass.model import InputError

#: Time limit of each wait for the aggregator, s.
_TIMEOUT_S = 5.0
#: Most bytes of a response that are read.
_MAX_BYTES = 1 << 24
#: Unchanged state is sent again after this long, s, because an aggregator forgets silent agents.
_RESEND_S = 600.0


#: Sends a request with method, URL, token and body; returns status and body, and raises OSError without a response.
Exchange = Callable[[str, str, Token, bytes], tuple[int, bytes]]


def exchange(
    method: str, url: str, token: Token, body: bytes, timeout: float = _TIMEOUT_S
) -> tuple[int, bytes]:
    """Send a request without proxies and redirects; return status and body.

    Raises
    ------
    OSError
        The server sends nothing for ``timeout`` seconds, is unreachable, or does not answer in HTTP.
    """
    request = urllib.request.Request(url, body or None, {"Authorization": token.header}, method=method)
    try:
        with direct_opener().open(request, timeout=timeout) as answer:
            return answer.status, answer.read(_MAX_BYTES)
    except http.client.HTTPException as error:
        raise OSError(f"the response is not HTTP: {error!r}") from error


@dataclass(slots=True)
class Joined:
    """Whether the last try succeeded, how often state was sent, how many tries failed, and why the last one failed."""

    now: bool = False
    sent: int = 0
    failed: int = 0
    why: str = "not tried yet"


class Joiner:
    """Exchanges learned state between an agent, or an aggregator, and the aggregator above it.

    Parameters
    ----------
    above
        The aggregator to join.
    token
        The tree's token.
    policy, metrics, dim
        Policy name and metrics digest of sent messages. Received messages must have the same digest, and subspaces of
        ``dim`` metrics.
    learned
        Returns the state to send; None for nothing yet.
    wanted
        Returns whether the state of other agents is of use now.
    give
        Called with the state of other agents.
    backoff
        Delays between retries while the aggregator is unreachable or rejects requests.
    clock
        Returns the time, s.
    notify
        Called with a message for the user when an exchange fails for a new reason, and when the aggregator is joined.
    exchanging
        Sends a request, as :func:`exchange` does.
    """

    def __init__(
        self,
        above: Above,
        token: Token,
        policy: str,
        metrics: str,
        dim: int,
        learned: Callable[[], Learned | None],
        wanted: Callable[[], bool],
        give: Callable[[Learned], None],
        backoff: Backoff,
        clock: Callable[[], float],
        notify: Callable[[str], None],
        exchanging: Exchange = exchange,
    ) -> None:
        self.status = Joined()
        self._above, self._token, self._policy, self._metrics, self._dim = above, token, policy, metrics, dim
        self._learned, self._wanted, self._give = learned, wanted, give
        self._backoff, self._clock, self._notify, self._exchange = backoff, clock, notify, exchanging
        self._url = above.url.rstrip("/")
        self._sent: Learned | None = None
        self._sent_at = -math.inf
        #: Number of failed tries since the last success.
        self._missed = 0

    def run(self, stop: Stop) -> None:
        """Exchange state until a stop is requested."""
        delay = 0.0
        while not stop.wait(delay):
            delay = self.step()

    def step(self) -> float:
        """Fetch and send state as due; return the delay until the next step, s."""
        try:
            fetch = self._wanted()
            if fetch:
                self._fetch()
            if not self._send() and not fetch:
                self._request("GET", f"{self._url}/healthz", b"")
        except (OSError, InputError) as error:
            reason = str(getattr(error, "reason", error))
            # A failure is reported once, until its reason changes.
            if reason != self.status.why:
                self._notify(f"{self._above.url}: {reason}; continuing without it")
            self.status.now, self.status.why = False, reason
            self.status.failed += 1
            # The aggregator may have restarted and lost the state that was sent.
            self._sent_at = -math.inf
            self._missed += 1
            return self._backoff.delay(self._missed)
        if not self.status.now:
            self._notify(f"{self._above.url}: joined as {self._above.name}")
        self.status.now, self.status.why = True, ""
        self._missed = 0
        return self._above.every

    def _fetch(self) -> None:
        data = self._request("GET", f"{self._url}/global", b"")
        if data:
            found = opened(data)
            found.check("learned", self._metrics)
            self._give(from_message(found, self._dim))

    def _send(self) -> bool:
        """Send learned state if that is due; return whether it was sent."""
        learned, now = self._learned(), self._clock()
        if learned is None:
            return False
        moved = 1.0 if self._sent is None else learned.subspace.moved(self._sent.subspace)
        if moved <= self._above.epsilon and now - self._sent_at < _RESEND_S:
            return False
        sealed = as_message(learned, self._policy, self._metrics).seal()
        self._request("PUT", f"{self._url}/nodes/{self._above.name}", sealed)
        self._sent, self._sent_at = learned, now
        self.status.sent += 1
        return True

    def _request(self, method: str, url: str, body: bytes) -> bytes:
        """Send a request; return the body of a successful response.

        Raises
        ------
        InputError
            The aggregator answered with another status than 200 and 204.
        """
        status, found = self._exchange(method, url, self._token, body)
        if status not in (200, 204):
            message = found[:200].decode("ascii", "replace").strip()
            raise InputError(f"answered {status}: {message}" if message else f"answered {status}")
        return found
