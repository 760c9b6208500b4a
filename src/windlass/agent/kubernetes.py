"""Marks the machine's node in Kubernetes while it rejects tasks; only when told to.

A *label* says so to whoever looks: ``admit.windlass/accept=false``. A *taint* of that name with the effect
``NoSchedule`` keeps new pods away, and leaves those that run. Either is taken away when the node accepts tasks again,
and when the agent stops. An agent that is killed leaves its mark until it is back; ``docs/agent.md`` says how to take
it away by hand.

The API is asked with the service account that Kubernetes mounts into the pod. It must be allowed to get and to patch
nodes, and nothing else.
"""

from __future__ import annotations

import json
import math
import os
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from windlass.agent.signal_board import AdmissionAnswer
from windlass.agent.stop import Stop
from windlass.engines.backoff import Backoff
from windlass.model import InputError

#: Key of the label and of the taint.
KEY = "admit.windlass/accept"
_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_TIMEOUT = 10.0
#: Between two changes of the mark are at least so many seconds: each is written to the cluster's store.
_APART = 10.0
_LOOK = 1.0


class Api(Protocol):
    """What is asked of Kubernetes."""

    def get(self, path: str) -> dict[str, Any]:
        """An object.

        Raises
        ------
        OSError
            It cannot be had.
        """
        ...

    def patch(self, path: str, change: dict[str, Any]) -> None:
        """Change an object by a JSON merge patch.

        Raises
        ------
        OSError
            It cannot be changed.
        """
        ...


class ClusterApi:
    """The API server of the cluster that this process runs in.

    Parameters
    ----------
    environment
        Says where the server is, as Kubernetes sets it.
    account
        Folder of the service account.

    Raises
    ------
    InputError
        This is no pod, or it has no service account.

    Examples
    --------
    >>> ClusterApi({})
    Traceback (most recent call last):
    windlass.model.errors.InputError: --kubernetes: KUBERNETES_SERVICE_HOST is not set, expected to run in a pod
    """

    def __init__(self, environment: Mapping[str, str] = os.environ, account: Path = _ACCOUNT) -> None:
        host, port = (
            environment.get("KUBERNETES_SERVICE_HOST"),
            environment.get("KUBERNETES_SERVICE_PORT", "443"),
        )
        if not host:
            raise InputError("--kubernetes: KUBERNETES_SERVICE_HOST is not set, expected to run in a pod")
        self._base = f"https://{f'[{host}]' if ':' in host else host}:{port}"
        self._token = account / "token"
        try:
            context = ssl.create_default_context(cafile=str(account / "ca.crt"))
            self._token.read_text()
        except OSError as error:
            raise InputError(f"--kubernetes: {account}: no service account: {error.strerror}") from error
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context)
        )

    def get(self, path: str) -> dict[str, Any]:
        """As of :class:`Api`."""
        return self._ask("GET", path, None)

    def patch(self, path: str, change: dict[str, Any]) -> None:
        """As of :class:`Api`."""
        self._ask("PATCH", path, json.dumps(change).encode())

    def _ask(self, method: str, path: str, body: bytes | None) -> dict[str, Any]:
        # Kubernetes renews the token now and then.
        headers = {"Authorization": f"Bearer {self._token.read_text().strip()}", "Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = "application/merge-patch+json"
        request = urllib.request.Request(self._base + path, body, headers, method=method)
        try:
            with self._opener.open(request, timeout=_TIMEOUT) as answer:
                found = json.loads(answer.read())
        except ValueError as error:
            raise OSError(f"{path}: answers no JSON") from error
        return found if isinstance(found, dict) else {}


class Marker:
    """Keeps the node's mark as the agent's answer is.

    Parameters
    ----------
    api
        Of the cluster.
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
        api: Api,
        node: str,
        by: str,
        answer: Callable[[], AdmissionAnswer],
        clock: Callable[[], float],
        backoff: Backoff,
        tell: Callable[[str], None],
    ) -> None:
        self._api, self._path, self._by = api, f"/api/v1/nodes/{node}", by
        self._answer, self._clock, self._backoff, self._tell = answer, clock, backoff, tell
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
        except OSError as error:
            self._tell(f"{self._path}: the mark cannot be taken away: {error}")

    def step(self) -> float:
        """Change the mark if that is due; how long to wait until the next step, s."""
        wanted = not self._answer().accept
        now = self._clock()
        if wanted == self.marked or now - self._changed_at < _APART:
            return _LOOK
        try:
            self._mark(wanted)
        except OSError as error:
            self.failed += 1
            self._missed += 1
            self._tell(f"{self._path}: {error}")
            return self._backoff.delay(self._missed)
        self._missed = 0
        self._changed_at = now
        return _LOOK

    def _mark(self, wanted: bool) -> None:
        if self._by == "label":
            self._api.patch(self._path, {"metadata": {"labels": {KEY: "false" if wanted else None}}})
        else:
            self._taint(wanted)
        self.marked = wanted

    def _taint(self, wanted: bool) -> None:
        """Taints are a list, which a patch has as a whole: that of others must not be lost."""
        found = self._api.get(self._path)
        taints = (found.get("spec") or {}).get("taints") or []
        others = [each for each in taints if each.get("key") != KEY]
        own = [{"key": KEY, "value": "false", "effect": "NoSchedule"}] if wanted else []
        if others + own == taints:
            return
        # With the version, a change that somebody else made since then is an error, and this is tried again.
        version = (found.get("metadata") or {}).get("resourceVersion")
        self._api.patch(
            self._path, {"metadata": {"resourceVersion": version}, "spec": {"taints": others + own}}
        )
