"""Marks the machine's node in Kubernetes while it rejects tasks; only when told to.

A *label* says so to whoever looks: ``admit.windlass/accept=false``. A *taint* of that name with the effect
``NoSchedule`` keeps new pods away, and leaves those that run. Either is taken away when the node accepts tasks again,
and when the agent stops. An agent that is killed leaves its mark until it is back; ``docs/agent.md`` says how to take
it away by hand.

The API is asked with the service account that Kubernetes mounts into the pod. It must be allowed to get and to patch
nodes, and nothing else.
"""

from __future__ import annotations

import math
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
#: Between two changes of the mark are at least so many seconds: each is written to the cluster's store.
_APART = 10.0
_LOOK = 1.0


def marking_server() -> ApiServer:
    """Return the API server of the cluster that this process runs in.

    Raises
    ------
    InputError
        This is no pod, or it has no service account.
    """
    try:
        return ApiServer(access=service_account(), patience=_PATIENCE_S, roles=_ROLES)
    except InputError as error:
        raise InputError(f"--kubernetes: {error}") from error


class Marker:
    """Keeps the node's mark as the agent's answer is.

    Parameters
    ----------
    server
        API server of the cluster.
    node
        The node's name.
    by
        ``label`` or ``taint``.
    answer
        What stands.
    clock
        Says the time, s.
    backoff
        Delays between tries while the API server refuses a change.
    tell
        Says a line to the user.
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
    ) -> None:
        self._server, self._path, self._by = server, f"/api/v1/nodes/{node}", by
        self._answer, self._clock, self._backoff, self._notify = answer, clock, backoff, notify
        self._changed_at = -math.inf
        #: Whether the node is marked; None where nobody has looked.
        self.marked: bool | None = None
        self.failed = 0
        #: Tries in a row that have failed.
        self._missed = 0

    def run(self, stop: Stop) -> None:
        """Until told to stop; then the mark is taken away."""
        delay = 0.0
        while not stop.wait(delay):
            delay = self.step()
        try:
            if self.marked is not False:
                self._mark(False)
        except ClusterError as error:
            self._notify(f"{self._path}: the mark cannot be taken away: {error}")

    def step(self) -> float:
        """Change the mark if that is due; how long to wait until the next step, s."""
        wanted = not self._answer().accept
        now = self._clock()
        if wanted == self.marked or now - self._changed_at < _APART:
            return _LOOK
        try:
            self._mark(wanted)
        except ClusterError as error:
            self.failed += 1
            self._missed += 1
            self._notify(str(error))
            return self._backoff.delay(self._missed)
        self._missed = 0
        self._changed_at = now
        return _LOOK

    def _mark(self, wanted: bool) -> None:
        if self._by == "label":
            self._server.send(
                "PATCH", self._path, {"metadata": {"labels": {KEY: "false" if wanted else None}}}
            )
        else:
            self._taint(wanted)
        self.marked = wanted

    def _taint(self, wanted: bool) -> None:
        """Taints are a list, which a patch has as a whole: that of others must not be lost."""
        found = self._server.get(self._path)
        taints = (found.get("spec") or {}).get("taints") or []
        others = [each for each in taints if each.get("key") != KEY]
        own = [{"key": KEY, "value": "false", "effect": "NoSchedule"}] if wanted else []
        if others + own == taints:
            return
        # With the version, a change that somebody else made since then is an error, and this is tried again.
        version = (found.get("metadata") or {}).get("resourceVersion")
        self._server.send(
            "PATCH", self._path, {"metadata": {"resourceVersion": version}, "spec": {"taints": others + own}}
        )
