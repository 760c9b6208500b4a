"""Access to an API server: with a pod's service account, and with a kubeconfig file, over TLS."""

from __future__ import annotations

import http.server
import json
import shutil
import ssl
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.engines.kubernetes.things import kubeconfig
from windlass.engines.elastic.system import ClusterError
from windlass.engines.kubernetes.access import kubeconfig_access, service_account
from windlass.engines.kubernetes.server import ApiServer
from windlass.model import InputError

#: Name of the server in its certificate.
NAME = "kubernetes.default.svc"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """A folder with an authority that signed its own certificate, as clusters do, for NAME and 127.0.0.1."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl, for a certificate")
    folder = tmp_path_factory.mktemp("certificates")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={NAME}",
         "-addext", f"subjectAltName=DNS:{NAME},IP:127.0.0.1", "-keyout", folder / "key", "-out", folder / "ca.crt"],
        check=True, capture_output=True,
    )  # fmt: skip
    return folder


@contextmanager
def serving(certificates, host="127.0.0.1"):
    """Run a server over TLS; yield its port and the recorded requests."""
    requested = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def _any(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            requested.append(
                (self.command, self.path, self.headers["Authorization"], json.loads(body or "null"))
            )
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}")

        do_GET = do_PATCH = _any  # noqa: N815

        def log_message(self, *_):
            pass

    trust = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trust.load_cert_chain(certificates / "ca.crt", certificates / "key")
    server = http.server.ThreadingHTTPServer((host, 0), Handler)
    server.socket = trust.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield server.server_address[1], requested
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def account_of(folder, certificates, token="of-the-account\n"):
    shutil.copy(certificates / "ca.crt", folder / "ca.crt")
    (folder / "token").write_text(token)
    return folder


def inside(host, port):
    return {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": str(port)}


def test_a_pod_needs_no_package_and_rereads_its_token(tmp_path, certificates, monkeypatch):
    monkeypatch.setitem(sys.modules, "kubernetes", None)
    account = account_of(tmp_path, certificates)
    with serving(certificates) as (port, requested):
        server = ApiServer(access=service_account(inside("127.0.0.1", port), account))
        assert server.get("/a?b=c") == {}
        (account / "token").write_text("renewed")
        assert server.send("PATCH", "/a", {"b": None}) == {}
    assert requested == [
        ("GET", "/a?b=c", "Bearer of-the-account", None),
        ("PATCH", "/a", "Bearer renewed", {"b": None}),
    ]


def test_proxies_of_the_environment_are_ignored_in_a_pod(tmp_path, certificates, monkeypatch):
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with serving(certificates) as (port, requested):
        access = service_account(inside("127.0.0.1", port), account_of(tmp_path, certificates))
        ApiServer(access=access).get("/a")
    assert len(requested) == 1


@pytest.mark.parametrize(
    ("host", "url"), [("10.0.0.1", "https://10.0.0.1:443"), ("fd00::1", "https://[fd00::1]:443")]
)
def test_an_ipv6_address_is_in_brackets_and_the_default_port_is_443(tmp_path, certificates, host, url):
    account = account_of(tmp_path, certificates)
    assert service_account({"KUBERNETES_SERVICE_HOST": host}, account).host == url


@pytest.mark.parametrize("lacking", ["token", "ca.crt"])
def test_an_incomplete_service_account_is_an_error(tmp_path, certificates, lacking):
    account = account_of(tmp_path, certificates)
    (account / lacking).unlink()
    with pytest.raises(InputError, match=f"^{account}: no service account: No such file or directory$"):
        service_account(inside("127.0.0.1", 1), account)


def test_a_server_of_another_authority_gets_no_token(tmp_path, certificates, monkeypatch):
    other = tmp_path / "other"
    other.mkdir()
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=other",
         "-keyout", other / "key", "-out", other / "ca.crt"], check=True, capture_output=True,
    )  # fmt: skip
    with serving(certificates) as (port, requested):
        server = ApiServer(access=service_account(inside("127.0.0.1", port), account_of(tmp_path, other)))
        with pytest.raises(ClusterError, match=r"does not answer: .*certificate verify failed"):
            server.get("/a")
    assert requested == []


def file_of(tmp_path, url, certificates, **cluster):
    """A kubeconfig file over TLS with more fields of its cluster."""
    file = kubeconfig(tmp_path / "config", url, authority=certificates / "ca.crt")
    tree = yaml.safe_load(file.read_text())
    tree["clusters"][0]["cluster"] |= cluster
    if "insecure-skip-tls-verify" in cluster:
        del tree["clusters"][0]["cluster"]["certificate-authority"]
    file.write_text(yaml.safe_dump(tree))
    return str(file)


@pytest.mark.parametrize(
    ("cluster", "reached"),
    [({}, True), ({"tls-server-name": NAME}, True), ({"tls-server-name": "other"}, False),
     ({"insecure-skip-tls-verify": True}, True), ({"proxy-url": "http://127.0.0.1:9"}, False)],
)  # fmt: skip
def test_cluster_fields_of_a_kubeconfig_apply(tmp_path, certificates, cluster, reached):
    pytest.importorskip("kubernetes", reason="needs the package kubernetes")
    with serving(certificates) as (port, requested):
        server = ApiServer(file_of(tmp_path, f"https://127.0.0.1:{port}", certificates, **cluster))
        if reached:
            assert server.get("/a") == {}
        else:
            with pytest.raises(ClusterError, match="does not answer"):
                server.get("/a")
    assert requested == [("GET", "/a", "Bearer secret", None)] * reached


def test_a_user_s_certificate_is_loaded(tmp_path, certificates):
    pytest.importorskip("kubernetes", reason="needs the package kubernetes")
    file = tmp_path / "config"
    tree = yaml.safe_load(
        kubeconfig(file, "https://127.0.0.1:1", authority=certificates / "ca.crt").read_text()
    )
    certificate, key = str(certificates / "ca.crt"), str(certificates / "key")
    tree["users"][0]["user"] = {"client-certificate": certificate, "client-key": key}
    file.write_text(yaml.safe_dump(tree))
    access = kubeconfig_access(str(file))
    assert (access.credentials(), access.host) == ("", "https://127.0.0.1:1")
    tree["users"][0]["user"]["client-key"] = str(certificates / "ca.crt")
    file.write_text(yaml.safe_dump(tree))
    with pytest.raises(InputError, match=f"^--kubeconfig: {file}: "):
        kubeconfig_access(str(file))


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:9", "127.0.0.1:9"])
def test_a_proxy_that_is_not_http_is_an_error(tmp_path, certificates, proxy):
    pytest.importorskip("kubernetes", reason="needs the package kubernetes")
    file = file_of(tmp_path, "https://127.0.0.1:1", certificates, **{"proxy-url": proxy})
    with pytest.raises(InputError, match=f"proxy-url is '{proxy}', expected an http:// or https:// URL"):
        kubeconfig_access(file)


def test_a_missing_token_is_an_error_and_nothing_is_sent(tmp_path, certificates):
    account = account_of(tmp_path, certificates)
    with serving(certificates) as (port, requested):
        server = ApiServer(access=service_account(inside("127.0.0.1", port), account))
        (account / "token").unlink()
        with pytest.raises(ClusterError, match=r"no credentials: .*No such file or directory"):
            server.get("/a")
    assert requested == []


def test_the_error_of_unrenewable_credentials_is_one_line(tmp_path, certificates, monkeypatch):
    kubernetes = pytest.importorskip("kubernetes", reason="needs the package kubernetes")

    def expired(self):
        raise kubernetes.config.ConfigException("the plugin\n failed")

    server = ApiServer(file_of(tmp_path, "https://127.0.0.1:1", certificates))
    monkeypatch.setattr(kubernetes.client.Configuration, "auth_settings", expired)
    with pytest.raises(ClusterError, match=r"no credentials: the plugin failed$"):
        server.get("/a")


def test_without_the_package_a_kubeconfig_is_an_error(monkeypatch):
    monkeypatch.setitem(sys.modules, "kubernetes", None)
    with pytest.raises(InputError, match=r"pip install 'windlass\[kubernetes\]'"):
        kubeconfig_access("config")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(st.dictionaries(st.sampled_from(["KUBERNETES_SERVICE_PORT", "HOME", "PATH"]), st.text(max_size=5)))
def test_an_environment_without_a_server_is_not_a_pod(tmp_path, environment):
    with pytest.raises(InputError, match="expected to run in a Kubernetes pod"):
        service_account(environment, tmp_path)
