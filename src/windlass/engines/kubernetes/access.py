"""Address, trusted certificates and credentials of a Kubernetes API server."""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from windlass.model import InputError
from windlass.model.text import printable

_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


@dataclass(frozen=True, slots=True)
class Access:
    """Address and credentials of an API server.

    Parameters
    ----------
    host
        URL of the server, without a path.
    credentials
        Returns the value of the header ``Authorization``, empty for none. It is called for each request, because tokens
        expire and are renewed; it raises OSError if no credentials are available.
    trust
        TLS context with the trusted certificate authorities and the client's certificate; None for the authorities of
        the system.
    proxy
        URL of an HTTP proxy; None for a direct connection.
    """

    host: str
    credentials: Callable[[], str] = lambda: ""
    trust: ssl.SSLContext | None = None
    proxy: str | None = None


def service_account(environment: Mapping[str, str] = os.environ, account: Path = _ACCOUNT) -> Access:
    """Return the access to the cluster in which this process runs, with the service account of its pod.

    Parameters
    ----------
    environment
        Environment variables, in which Kubernetes sets host and port of the server.
    account
        Folder of the service account.

    Raises
    ------
    InputError
        The process does not run in a pod, or the pod has no service account.

    Examples
    --------
    >>> service_account({})
    Traceback (most recent call last):
    windlass.model.errors.InputError: KUBERNETES_SERVICE_HOST is not set, expected to run in a Kubernetes pod
    """
    host = environment.get("KUBERNETES_SERVICE_HOST")
    port = environment.get("KUBERNETES_SERVICE_PORT", "443")
    if not host:
        raise InputError("KUBERNETES_SERVICE_HOST is not set, expected to run in a Kubernetes pod")
    token = account / "token"
    try:
        trust = _trust(str(account / "ca.crt"))
        token.read_text()
    except OSError as error:
        raise InputError(f"{account}: no service account: {error.strerror}") from error
    where = f"[{host}]" if ":" in host else host
    return Access(f"https://{where}:{port}", lambda: f"Bearer {token.read_text().strip()}", trust)


def kubeconfig_access(config: str | None = None, context: str | None = None) -> Access:
    """Return the access to the cluster of a kubeconfig file, which the official client reads.

    Parameters
    ----------
    config
        The file; None for the user's own.
    context
        A context of the file; None for its current one.

    Raises
    ------
    InputError
        The package ``kubernetes`` is not installed, the file cannot be used, or its proxy is not an HTTP proxy.
    """
    try:
        from kubernetes import client
        from kubernetes import config as configs
    except ModuleNotFoundError as error:
        raise InputError(
            "the package kubernetes is not installed; run: pip install 'windlass[kubernetes]'"
        ) from error
    except ImportError as error:
        raise InputError(f"the package kubernetes cannot be imported: {error}") from error
    known = client.Configuration()
    try:
        configs.load_kube_config(config, context, client_configuration=known)
        trust = _trust(known.ssl_ca_cert, known.tls_server_name) if _is_secure(known.host) else None
        if trust is not None and known.cert_file:
            trust.load_cert_chain(known.cert_file, known.key_file)
        if trust is not None and not known.verify_ssl:
            trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE
    except (configs.ConfigException, OSError, TypeError, ValueError) as error:
        where = f"--kubeconfig: {config}" if config else "no cluster is configured"
        why = " ".join(str(error).split())
        # The client's own message is the same for a missing file and an empty one.
        if config and "No configuration found" in why and not Path(config).expanduser().exists():
            why = "no such file"
        raise InputError(f"{where}: {why}") from error

    def credentials() -> str:
        try:
            # This call renews an expired token.
            settings = known.auth_settings().get("BearerToken")
        except configs.ConfigException as error:
            raise OSError(str(error)) from error
        return str(settings["value"] or "") if settings else ""

    proxy = str(known.proxy or "") or None
    if proxy is not None and not proxy.startswith(("http://", "https://")):
        raise InputError(
            f"--kubeconfig: proxy-url is {printable(proxy)!r}, expected an http:// or https:// URL"
        )
    return Access(str(known.host), credentials, trust, proxy)


def _is_secure(host: object) -> bool:
    return str(host).startswith("https:")


class _NamedServerContext(ssl.SSLContext):
    """A TLS context that expects the certificate of a given server name, regardless of the host connected to."""

    server_name: str = ""

    def wrap_socket(
        self,
        sock: socket.socket,
        server_side: bool = False,
        do_handshake_on_connect: bool = True,
        suppress_ragged_eofs: bool = True,
        server_hostname: str | bytes | None = None,
        session: ssl.SSLSession | None = None,
    ) -> ssl.SSLSocket:
        """Wrap a socket as :class:`ssl.SSLContext` does, with the server name of this context if it has one."""
        name = self.server_name or server_hostname
        return super().wrap_socket(
            sock, server_side, do_handshake_on_connect, suppress_ragged_eofs, name, session
        )


def _trust(authorities: str | None, server_name: str | None = None) -> ssl.SSLContext:
    """Return a TLS context that trusts the authorities in a file, or those of the system.

    Python's default context is not used: since 3.13 it rejects the self-made authorities of clusters.
    """
    context = _NamedServerContext(ssl.PROTOCOL_TLS_CLIENT)
    context.server_name = server_name or ""
    if authorities is None:
        context.load_default_certs()
    else:
        context.load_verify_locations(authorities)
    return context
