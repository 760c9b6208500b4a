"""Requests to an API server over plain HTTP, for the autoscaler and for the node agent."""

from __future__ import annotations

import http.client
import json
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Protocol

from windlass.engines.elastic.system import ClusterError
from windlass.engines.http import direct_opener
from windlass.engines.kubernetes.access import Access, service_account, user_s_file
from windlass.model import InputError
from windlass.model.values import number

#: Objects a request brings at most; more come page by page.
_PAGE = 500
_PIECE_BYTES = 65536
#: Manifests with the roles of the autoscaler.
ROLES = "deploy/kubernetes"
Tree = dict[str, Any]


class MissingError(ClusterError):
    """There is no such object, or no such kind of object."""


class Server(Protocol):
    """Says what an API server answers."""

    def get(self, path: str) -> Tree:
        """One object, or one page of a list."""
        ...

    def send(self, method: str, path: str, body: Tree | None = None) -> Tree:
        """POST, PATCH (a merge patch) or DELETE."""
        ...


class ApiServer:
    """An API server, over HTTP.

    Parameters
    ----------
    config
        A kubeconfig file; without one, the service account of the pod that this runs in, or the user's own file.
    context
        Of the file; its current one if none is named.
    patience
        Seconds that an answer may take, its last byte included.
    access
        Where the server is, in place of ``config`` and ``context``.
    roles
        Path of the manifests with the roles that are needed, for the message of a request that is forbidden.

    Raises
    ------
    InputError
        No cluster is named, or the package ``kubernetes``, which reads kubeconfig files, is not installed.
    """

    def __init__(
        self,
        config: str | None = None,
        context: str | None = None,
        patience: float = 30.0,
        *,
        access: Access | None = None,
        roles: str = ROLES,
    ) -> None:
        self._access = access or _found(config, context)
        self._opener = direct_opener(self._access.trust, self._access.proxy)
        self.host, self._patience = self._access.host, number("patience", patience, 0.0, open_below=True)
        self._roles = roles

    def get(self, path: str) -> Tree:
        """One object, or one page of a list."""
        return self._call("GET", path, None)

    def send(self, method: str, path: str, body: Tree | None = None) -> Tree:
        """POST, PATCH (a merge patch) or DELETE."""
        return self._call(method, path, body)

    def _call(self, method: str, path: str, body: Tree | None) -> Tree:
        headers = {"Accept": "application/json"}
        if body is not None:
            kind = "merge-patch+json" if method == "PATCH" else "json"
            headers["Content-Type"] = f"application/{kind}"
        where = path.partition("?")[0]
        sent = None if body is None else json.dumps(body).encode()
        if credentials := self._credentials():
            headers["Authorization"] = credentials
        until = time.monotonic() + self._patience
        try:
            request = urllib.request.Request(self.host + path, sent, headers, method=method)
            with self._opener.open(request, timeout=self._patience) as response:
                status, data = response.status, _read(response, until)
        except (http.client.HTTPException, OSError) as error:
            raise ClusterError(f"{self.host} does not answer: {_reason(error)}") from error
        if not 200 <= status < 300:
            raise refusal(status, method, where, data, self._roles)
        try:
            found = json.loads(data or b"{}")
        except ValueError as error:
            raise ClusterError(f"{self.host}: {method} {where}: the answer is not JSON") from error
        if not isinstance(found, dict):
            raise ClusterError(f"{self.host}: {method} {where}: the answer is not an object")
        return found

    def _credentials(self) -> str:
        try:
            return self._access.credentials()
        except OSError as error:
            raise ClusterError(f"{self.host}: there are no credentials: {_reason(error)}") from error


def _found(config: str | None, context: str | None) -> Access:
    """Return the way to the cluster of a file, or of the pod, or else of the user's own file."""
    if config is None and context is None:
        with suppress(InputError):
            return service_account()
    return user_s_file(config, context)


def _read(response: http.client.HTTPResponse, until: float) -> bytes:
    """Return the whole body; a server that sends a little again and again is away, too."""
    found = bytearray()
    while piece := response.read1(_PIECE_BYTES):
        found += piece
        if time.monotonic() > until:
            response.close()
            raise TimeoutError("its answer has no end")
    if response.length:
        raise http.client.IncompleteRead(bytes(found), response.length)
    return bytes(found)


def refusal(status: int | None, method: str, path: str, body: Any, roles: str = ROLES) -> ClusterError:
    """Return the error that a status stands for, in one line.

    Parameters
    ----------
    status
        Of HTTP.
    method, path
        Of the request.
    body
        What the server answered.
    roles
        Path of the manifests with the roles that are needed.

    Examples
    --------
    >>> str(refusal(403, "GET", "/api/v1/pods", b'{"message": "pods is forbidden"}'))
    'GET /api/v1/pods is forbidden: pods is forbidden; see deploy/kubernetes for the roles that are needed'
    """
    try:
        said = str(json.loads(body or b"{}").get("message", ""))
    except (ValueError, AttributeError):
        said = ""
    said = " ".join(said.split())
    if status == 404:
        return MissingError(f"{method} {path}: not found" + (f": {said}" if said else ""))
    if status == 401:
        return ClusterError(f"{method} {path}: the server does not know who asks: {said or 'unauthorized'}")
    if status == 403:
        needed = f"see {roles} for the roles that are needed"
        return ClusterError(f"{method} {path} is forbidden: {said or 'no reason given'}; {needed}")
    return ClusterError(f"{method} {path} failed with status {status}: {said or 'no reason given'}")


def items(server: Server, path: str) -> Iterator[Tree]:
    """All objects of a list, page by page.

    Raises
    ------
    ClusterError
        The server does not answer, or not with a list.
    """
    joint = "&" if "?" in path else "?"
    more = ""
    while True:
        page = server.get(f"{path}{joint}limit={_PAGE}" + (f"&continue={more}" if more else ""))
        found = page.get("items")
        if not isinstance(found, list):
            raise ClusterError(f"GET {path}: the answer is no list")
        if not all(isinstance(each, dict) and isinstance(each.get("metadata"), dict) for each in found):
            raise ClusterError(f"GET {path}: the answer lists what is no object")
        yield from found
        meta: Mapping[str, Any] = page.get("metadata") or {}
        more = str(meta.get("continue") or "")
        if not more:
            return


def _reason(error: Exception) -> str:
    return " ".join(str(getattr(error, "reason", None) or error).split())
