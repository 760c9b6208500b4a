"""Marks the machine's Kubernetes node while the node rejects tasks; only with the option ``--kubernetes``.

A *label*, ``admit.windlass/accept=false``, only informs. A *taint* of that name with the effect ``NoSchedule`` keeps
new pods away, and running pods stay. Either mark is removed when the node accepts tasks again, and when the agent
stops. If the agent is killed, the mark remains until the agent restarts; ``docs/agent.md`` describes how to remove it
by hand.

Requests use the service account that Kubernetes mounts into the pod. It must be allowed to get and to patch nodes, and
nothing else.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from windlass.agent.signal_board import AdmissionAnswer
from windlass.agent.stop import Stop
from windlass.engines.backoff import Backoff
from windlass.engines.elastic.system import ClusterError
from windlass.engines.kubernetes.access import service_account
from windlass.engines.kubernetes.server import ApiServer, Server
from windlass.model import InputError

#: Key of the label and of the taint.
KEY = "admit.windlass/accept"
#: Manifest with the role of an agent that marks its node.
_ROLES = "deploy/kubernetes/agent-taint.yaml"
#: Time limit of a request, s.
_PATIENCE_S = 10.0
#: Minimum time between two changes of the mark, s, because each change is written to the cluster's store.
_MIN_INTERVAL_S = 10.0
#: Interval at which the agent's decision is polled, s.
_POLL_S = 1.0
#: Attempts to remove the mark at the end.
_LAST_TRIES = 3


def marking_server() -> ApiServer:
    """Return the API server of the cluster that this process runs in.

    Raises
    ------
    InputError
        The process does not run in a pod, or the pod has no service account.
    """
    try:
        return ApiServer(access=service_account(), patience=_PATIENCE_S, roles=_ROLES)
    except InputError as error:
        raise InputError(f"--kubernetes: {error}") from error


class Marker:
    """Keeps the node's mark consistent with the agent's decision.

    Parameters
    ----------
    server
        API server of the cluster.
    node
        Name of the node.
    by
        Kind of mark: ``label`` or ``taint``.
    answer
        Returns the agent's current decision.
    clock
        Returns the time, s.
    backoff
        Delays between retries while a change of the mark fails.
    notify
        Called with each message for the user.
    pause
        Waits for a number of seconds between the last attempts.
    """

    def __init__(
        self,
        server: Server,
        node: str,
        by: str,
        answer: Callable[[], AdmissionAnswer],
        clock: Callable[[], float],
        backoff: Backoff,
        notify: Callable[[str], None],
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._pause = pause
        self._server, self._path, self._by = server, f"/api/v1/nodes/{node}", by
        self._answer, self._clock, self._backoff, self._notify = answer, clock, backoff, notify
        self._changed_at = -math.inf
        #: True if the node is marked; None before the first change, and after one whose outcome is unknown.
        self.marked: bool | None = None
        self.failed = 0
        #: Number of failed tries since the last success.
        self._missed = 0

    def run(self, stop: Stop) -> None:
        """Update the mark until a stop is requested; then remove it."""
        delay = 0.0
        while not stop.wait(delay):
            delay = self.step()
        for left in reversed(range(_LAST_TRIES)):
            try:
                if self.marked is not False:
                    self._mark(False)
                return
            except ClusterError as error:
                if not left:
                    self._notify(f"{self._path}: the mark cannot be removed: {error}")
                else:
                    self._pause(_POLL_S)

    def step(self) -> float:
        """Change the mark if that is due; return the delay until the next step, s."""
        answer = self._answer()
        if not answer.measured:
            return _POLL_S  # An agent that starts says nothing about its node yet.
        wanted = not answer.accept
        now = self._clock()
        if wanted == self.marked or now - self._changed_at < _MIN_INTERVAL_S:
            return _POLL_S
        try:
            self._mark(wanted)
        except ClusterError as error:
            self.failed += 1
            self._missed += 1
            self._notify(str(error))
            return self._backoff.delay(self._missed)
        self._missed = 0
        self._changed_at = now
        return _POLL_S

    def _mark(self, wanted: bool) -> None:
        # If no reply comes, the server may have made the change.
        self.marked = None
        if self._by == "label":
            self._server.send(
                "PATCH", self._path, {"metadata": {"labels": {KEY: "false" if wanted else None}}}
            )
        else:
            self._taint(wanted)
        self.marked = wanted

    def _taint(self, wanted: bool) -> None:
        """Set or remove the taint; other taints must be sent as well, because a merge patch replaces the whole list."""
        found = self._server.get(self._path)
        taints = (found.get("spec") or {}).get("taints") or []
        others = [each for each in taints if each.get("key") != KEY]
        own = [{"key": KEY, "value": "false", "effect": "NoSchedule"}] if wanted else []
        if others + own == taints:
            return
        # The version makes the patch fail if the node has changed since the read; a later step tries again.
        version = (found.get("metadata") or {}).get("resourceVersion")
        self._server.send(
            "PATCH", self._path, {"metadata": {"resourceVersion": version}, "spec": {"taints": others + own}}
        )
