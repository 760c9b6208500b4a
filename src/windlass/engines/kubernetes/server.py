"""Requests to an API server, by the official client's connections and credentials."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from windlass.engines.elastic.system import ClusterError
from windlass.model import InputError
from windlass.model.values import number

#: Objects a request brings at most; more come page by page.
_PAGE = 500
_PIECE_BYTES = 65536
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
    """An API server, as a kubeconfig file or a pod's service account names it.

    Parameters
    ----------
    config
        A kubeconfig file; without one, the service account of the pod that this runs in, or the user's own file.
    context
        Of the file; its current one if none is named.
    patience
        Seconds that an answer may take, its last byte included.

    Raises
    ------
    InputError
        The package ``kubernetes`` is not there, or no cluster is named.
    """

    def __init__(self, config: str | None = None, context: str | None = None, patience: float = 30.0) -> None:
        try:
            from kubernetes import client
            from kubernetes import config as configs
        except ImportError as error:
            raise InputError(
                "Kubernetes needs the package kubernetes: pip install 'windlass[kubernetes]'"
            ) from error
        known = client.Configuration()
        try:
            try:
                if config is not None or context is not None:
                    raise configs.ConfigException
                configs.load_incluster_config(client_configuration=known)
            except configs.ConfigException:
                configs.load_kube_config(config, context, client_configuration=known)
        except (configs.ConfigException, OSError, TypeError, ValueError) as error:
            where = f"--kubeconfig: {config}" if config else "no cluster is named"
            raise InputError(f"{where}: {' '.join(str(error).split())}") from error
        known.retries = 0
        self._client, self._refused = client.ApiClient(known), client.exceptions.ApiException
        self.host, self._patience = str(known.host), number("patience", patience, 0.0, open_below=True)

    def get(self, path: str) -> Tree:
        """One object, or one page of a list."""
        return self._call("GET", path, None)

    def send(self, method: str, path: str, body: Tree | None = None) -> Tree:
        """POST, PATCH (a merge patch) or DELETE."""
        return self._call(method, path, body)

    def _call(self, method: str, path: str, body: Tree | None) -> Tree:
        import urllib3

        headers = {"Accept": "application/json"}
        if body is not None:
            kind = "merge-patch+json" if method == "PATCH" else "json"
            headers["Content-Type"] = f"application/{kind}"
        where = path.partition("?")[0]
        try:
            asked = self._client.param_serialize(
                method, path, header_params=headers, body=body, auth_settings=["BearerToken"]
            )
            until = time.monotonic() + self._patience
            response = self._client.call_api(*asked, _request_timeout=self._patience)
            status, data = response.status, _read(response.response, until)
        except self._refused as error:
            raise refusal(error.status, method, where, error.body) from error
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise ClusterError(f"{self.host} does not answer: {_reason(error)}") from error
        if not 200 <= status < 300:
            raise refusal(status, method, where, data)
        try:
            found = json.loads(data or b"{}")
        except ValueError as error:
            raise ClusterError(f"{self.host}: {method} {where}: the answer is not JSON") from error
        if not isinstance(found, dict):
            raise ClusterError(f"{self.host}: {method} {where}: the answer is not an object")
        return found


def _read(response: Any, until: float) -> bytes:
    """All that is said; a server that says a little again and again is away, too."""
    found = bytearray()
    while piece := response.read1(_PIECE_BYTES):
        found += piece
        if time.monotonic() > until:
            response.close()
            raise TimeoutError("its answer has no end")
    return bytes(found)


def refusal(status: int | None, method: str, path: str, body: Any) -> ClusterError:
    """What a refusal means, in one line.

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
        roles = "see deploy/kubernetes for the roles that are needed"
        return ClusterError(f"{method} {path} is forbidden: {said or 'no reason given'}; {roles}")
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
