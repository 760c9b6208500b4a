"""Where an API server is, how it is trusted, and the credentials for it."""

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
    """The way to an API server.

    Parameters
    ----------
    host
        Its URL, without a path.
    credentials
        Returns the value of the header ``Authorization``, empty for none. It is called for each request, as tokens
        are renewed now and then; OSError where there are none now.
    trust
        Authorities of the server's certificate, and the client's own certificate; None for those of the system.
    proxy
        URL of an HTTP proxy on the way; None for none.
    """

    host: str
    credentials: Callable[[], str] = lambda: ""
    trust: ssl.SSLContext | None = None
    proxy: str | None = None


def service_account(environment: Mapping[str, str] = os.environ, account: Path = _ACCOUNT) -> Access:
    """Return the way to the cluster that this process runs in, by the service account of its pod.

    Parameters
    ----------
    environment
        Names the server, as Kubernetes sets it.
    account
        Folder of the service account.

    Raises
    ------
    InputError
        This is no pod, or it has no service account.

    Examples
    --------
    >>> service_account({})
    Traceback (most recent call last):
    windlass.model.errors.InputError: KUBERNETES_SERVICE_HOST is not set, expected to run in a pod
    """
    host = environment.get("KUBERNETES_SERVICE_HOST")
    port = environment.get("KUBERNETES_SERVICE_PORT", "443")
    if not host:
        raise InputError("KUBERNETES_SERVICE_HOST is not set, expected to run in a pod")
    token = account / "token"
    try:
        trust = _trust(str(account / "ca.crt"))
        token.read_text()
    except OSError as error:
        raise InputError(f"{account}: no service account: {error.strerror}") from error
    where = f"[{host}]" if ":" in host else host
    return Access(f"https://{where}:{port}", lambda: f"Bearer {token.read_text().strip()}", trust)


def user_s_file(config: str | None = None, context: str | None = None) -> Access:
    """Return the way to the cluster that a kubeconfig file names; the official client reads it.

    Parameters
    ----------
    config
        The file; None for the user's own.
    context
        Of the file; None for its current one.

    Raises
    ------
    InputError
        The package ``kubernetes`` is not installed, no cluster is named, or its proxy is none of HTTP.
    """
    try:
        from kubernetes import client
        from kubernetes import config as configs
    except ImportError as error:
        raise InputError(
            "Kubernetes needs the package kubernetes: pip install 'windlass[kubernetes]'"
        ) from error
    known = client.Configuration()
    try:
        configs.load_kube_config(config, context, client_configuration=known)
        trust = _trust(known.ssl_ca_cert, known.tls_server_name) if _is_secure(known.host) else None
        if trust is not None and known.cert_file:
            trust.load_cert_chain(known.cert_file, known.key_file)
        if trust is not None and not known.verify_ssl:
            trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE
    except (configs.ConfigException, OSError, TypeError, ValueError) as error:
        where = f"--kubeconfig: {config}" if config else "no cluster is named"
        raise InputError(f"{where}: {' '.join(str(error).split())}") from error

    def credentials() -> str:
        try:
            # An expired token is renewed by this call.
            settings = known.auth_settings().get("BearerToken")
        except configs.ConfigException as error:
            raise OSError(str(error)) from error
        return str(settings["value"] or "") if settings else ""

    proxy = str(known.proxy or "") or None
    if proxy is not None and not proxy.startswith(("http://", "https://")):
        raise InputError(f"--kubeconfig: proxy-url is {printable(proxy)!r}, expected one of http or https")
    return Access(str(known.host), credentials, trust, proxy)


def _is_secure(host: object) -> bool:
    return str(host).startswith("https:")


class _NamedServerContext(ssl.SSLContext):
    """A context that expects a certificate of a given name, whatever host is connected to."""

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
        """Connect as :class:`ssl.SSLContext` does, to the name of this context."""
        name = self.server_name or server_hostname
        return super().wrap_socket(
            sock, server_side, do_handshake_on_connect, suppress_ragged_eofs, name, session
        )


def _trust(authorities: str | None, server_name: str | None = None) -> ssl.SSLContext:
    """Return a context that trusts the authorities of a file, or those of the system.

    Python's default context is stricter since 3.13: it rejects authorities that clusters make for themselves.
    """
    context = _NamedServerContext(ssl.PROTOCOL_TLS_CLIENT)
    context.server_name = server_name or ""
    if authorities is None:
        context.load_default_certs()
    else:
        context.load_verify_locations(authorities)
    return context
