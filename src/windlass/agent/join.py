"""Sends what was learned to an aggregator, and begins from what others have learned; goes on without it.

An agent decides by itself, so an aggregator that is away costs nothing but news. It is tried again after a second, two,
four and so on up to five minutes, each drawn from the upper half, so that a thousand agents do not come back at once.
What is sent is the last that was learned: nothing is kept for later. An aggregator that is back is sent it anew,
whether or not it has moved: it may have lost what it had.
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

_TIMEOUT = 5.0
_LONGEST = 1 << 24
#: What has not moved is sent again after so long, s: an aggregator forgets who is silent.
_AGAIN = 600.0


#: Method, URL, token and body to status and body; raises OSError where nobody answers.
Exchange = Callable[[str, str, Token, bytes], tuple[int, bytes]]


def exchange(
    method: str, url: str, token: Token, body: bytes, timeout: float = _TIMEOUT
) -> tuple[int, bytes]:
    """One request, without proxies and redirections; who says nothing for ``timeout`` seconds is away.

    Raises
    ------
    OSError
        Nobody answers, or not in HTTP.
    """
    request = urllib.request.Request(url, body or None, {"Authorization": token.header}, method=method)
    try:
        with direct_opener().open(request, timeout=timeout) as answer:
            return answer.status, answer.read(_LONGEST)
    except http.client.HTTPException as error:
        raise OSError(f"answers in no HTTP: {error!r}") from error


@dataclass(slots=True)
class Joined:
    """How it went: whether the last try worked, and how often each was so."""

    now: bool = False
    sent: int = 0
    failed: int = 0
    why: str = "not tried yet"


class Joiner:
    """Between an agent, or an aggregator, and the aggregator above it.

    Parameters
    ----------
    above
        Who is joined.
    token
        Of the tree.
    policy, metrics, dim
        What is sent is of this policy and these metrics, and only such is taken.
    learned
        What is to be sent; None for nothing yet.
    wanted
        Whether what others have learned is of use now.
    give
        Takes what others have learned.
    backoff
        Delays between tries while the aggregator is away.
    clock
        Says the time, s.
    tell
        Says a line to the user: when the aggregator goes away, why, and when it is back.
    exchanging
        Sends a request.
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
        #: Tries in a row that have failed.
        self._missed = 0

    def run(self, stop: Stop) -> None:
        """Until told to stop."""
        delay = 0.0
        while not stop.wait(delay):
            delay = self.step()

    def step(self) -> float:
        """Ask and send what is due; how long to wait until the next step, s."""
        try:
            asked = self._wanted()
            if asked:
                self._ask()
            if not self._send() and not asked:
                self._answer("GET", f"{self._url}/healthz", b"")
        except (OSError, InputError) as error:
            reason = str(getattr(error, "reason", error))
            # Said once, and again where it fails for another reason.
            if reason != self.status.why:
                self._notify(f"{self._above.url}: {reason}; going on without it")
            self.status.now, self.status.why = False, reason
            self.status.failed += 1
            # It may have been started again, and know nothing of what it was sent.
            self._sent_at = -math.inf
            self._missed += 1
            return self._backoff.delay(self._missed)
        if not self.status.now:
            self._notify(f"{self._above.url}: joined as {self._above.name}")
        self.status.now, self.status.why = True, ""
        self._missed = 0
        return self._above.every

    def _ask(self) -> None:
        data = self._answer("GET", f"{self._url}/global", b"")
        if data:
            found = opened(data)
            found.check("learned", self._metrics)
            self._give(from_message(found, self._dim))

    def _send(self) -> bool:
        """Send what was learned if that is due; whether it was."""
        learned, now = self._learned(), self._clock()
        if learned is None:
            return False
        moved = 1.0 if self._sent is None else learned.subspace.moved(self._sent.subspace)
        if moved <= self._above.epsilon and now - self._sent_at < _AGAIN:
            return False
        sealed = as_message(learned, self._policy, self._metrics).seal()
        self._answer("PUT", f"{self._url}/nodes/{self._above.name}", sealed)
        self._sent, self._sent_at = learned, now
        self.status.sent += 1
        return True

    def _answer(self, method: str, url: str, body: bytes) -> bytes:
        """The body of a request that was answered well.

        Raises
        ------
        InputError
            It was refused.
        """
        status, found = self._exchange(method, url, self._token, body)
        if status not in (200, 204):
            said = found[:200].decode("ascii", "replace").strip()
            raise InputError(f"answered {status}: {said}" if said else f"answered {status}")
        return found
