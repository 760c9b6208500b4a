"""A client of the Kubernetes API server, for the autoscaler and for the node agent."""

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
from windlass.engines.kubernetes.access import Access, kubeconfig_access, service_account
from windlass.model import InputError
from windlass.model.values import number

#: Most objects on one page of a list.
_PAGE = 500
_PIECE_BYTES = 65536
#: Statuses of requests that the server will never accept.
_INVALID = (400, 405, 415, 422)
#: Folder of the manifests with the roles of the autoscaler.
ROLES = "deploy/kubernetes"
Tree = dict[str, Any]


class RejectedError(ClusterError):
    """The server rejected a request, which had no effect."""


class MissingError(RejectedError):
    """The object, or its kind, does not exist on the server."""


class ConflictError(RejectedError):
    """The object was changed since it was read, or it exists already."""


class Server(Protocol):
    """A client of an API server; both methods return the decoded response and raise ClusterError."""

    def get(self, path: str) -> Tree:
        """Return one object, or one page of a list."""
        ...

    def send(self, method: str, path: str, body: Tree | None = None) -> Tree:
        """Send a POST, PATCH (a merge patch) or DELETE request; return the response."""
        ...


class ApiServer:
    """A client of an API server over HTTP or HTTPS.

    Parameters
    ----------
    config
        A kubeconfig file. By default the service account of the pod in which this process runs, or outside a pod the
        user's own file.
    context
        A context of the file; by default its current one.
    patience
        Time limit of a request, up to the last byte of its response, s.
    access
        Address and credentials of the server, in place of ``config`` and ``context``.
    roles
        Path of the manifests with the required roles, for the message about a forbidden request.

    Raises
    ------
    InputError
        No cluster is configured, or the package ``kubernetes``, which reads kubeconfig files, is not installed.
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
        self._access = access or _find_access(config, context)
        self._opener = direct_opener(self._access.trust, self._access.proxy)
        self.host, self._patience = self._access.host, number("patience", patience, 0.0, open_below=True)
        self._roles = roles

    def get(self, path: str) -> Tree:
        """Return one object, or one page of a list."""
        return self._call("GET", path, None)

    def send(self, method: str, path: str, body: Tree | None = None) -> Tree:
        """Send a POST, PATCH (a merge patch) or DELETE request; return the response."""
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
            raise ClusterError(f"{self.host}: {method} {where}: the response is not JSON") from error
        if not isinstance(found, dict):
            raise ClusterError(f"{self.host}: {method} {where}: the response is not an object")
        return found

    def _credentials(self) -> str:
        try:
            return self._access.credentials()
        except OSError as error:
            raise ClusterError(f"{self.host}: no credentials: {_reason(error)}") from error


def _find_access(config: str | None, context: str | None) -> Access:
    """Return the access of a given file or context, else of the pod's service account, else of the user's own file."""
    if config is None and context is None:
        with suppress(InputError):
            return service_account()
    return kubeconfig_access(config, context)


def _read(response: http.client.HTTPResponse, until: float) -> bytes:
    """Return the whole body; raise TimeoutError if it is incomplete at ``until``, even if more keeps arriving."""
    found = bytearray()
    while piece := response.read1(_PIECE_BYTES):
        found += piece
        if time.monotonic() > until:
            response.close()
            raise TimeoutError("the response was not complete in time")
    if response.length:
        raise http.client.IncompleteRead(bytes(found), response.length)
    return bytes(found)


def refusal(status: int | None, method: str, path: str, body: Any, roles: str = ROLES) -> ClusterError:
    """Return the error for an HTTP status; its message is one line.

    Parameters
    ----------
    status
        The HTTP status.
    method, path
        Method and path of the request.
    body
        Body of the response.
    roles
        Path of the manifests with the required roles.

    Examples
    --------
    >>> str(refusal(403, "GET", "/api/v1/pods", b'{"message": "pods is forbidden"}'))
    'GET /api/v1/pods is forbidden: pods is forbidden; see deploy/kubernetes for the required roles'
    """
    try:
        message = str(json.loads(body or b"{}").get("message", ""))
    except (ValueError, AttributeError):
        message = ""
    message = " ".join(message.split())
    if status == 404:
        return MissingError(f"{method} {path}: not found" + (f": {message}" if message else ""))
    if status == 409:
        return ConflictError(f"{method} {path} failed with status 409: {message or 'no reason given'}")
    if status == 401:
        return ClusterError(f"{method} {path}: authentication failed: {message or 'unauthorized'}")
    if status == 403:
        needed = f"see {roles} for the required roles"
        return RejectedError(f"{method} {path} is forbidden: {message or 'no reason given'}; {needed}")
    kind = RejectedError if status in _INVALID else ClusterError
    return kind(f"{method} {path} failed with status {status}: {message or 'no reason given'}")


def items(server: Server, path: str) -> Iterator[Tree]:
    """Yield all objects of a list, requested page by page.

    Raises
    ------
    ClusterError
        The server does not answer, or its response is not a list of objects.
    """
    separator = "&" if "?" in path else "?"
    cursor = ""
    while True:
        page = server.get(f"{path}{separator}limit={_PAGE}" + (f"&continue={cursor}" if cursor else ""))
        found = page.get("items")
        if not isinstance(found, list):
            raise ClusterError(f"GET {path}: the response is not a list")
        if not all(isinstance(each, dict) and isinstance(each.get("metadata"), dict) for each in found):
            raise ClusterError(f"GET {path}: the response lists an item that is not an object with metadata")
        yield from found
        meta: Mapping[str, Any] = page.get("metadata") or {}
        cursor = str(meta.get("continue") or "")
        if not cursor:
            return


def _reason(error: Exception) -> str:
    return " ".join(str(getattr(error, "reason", None) or error).split())
