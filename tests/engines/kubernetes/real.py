"""A real kube-apiserver with its etcd, on loopback, with the roles of ``deploy/kubernetes`` and their enforcement."""

from __future__ import annotations

import os
import shutil
import socket
import ssl
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.engines.kubernetes.between import Remote
from tests.engines.kubernetes.cluster import BUFFERS, NAMESPACE, PODS, Cluster
from tests.engines.kubernetes.served import ROOT, Served
from tests.engines.kubernetes.things import kubeconfig
from windlass.engines.elastic.system import ClusterError
from windlass.engines.kubernetes.server import ApiServer
from windlass.engines.slurm.daemons import wait_until

PATIENCE = 300.0
ADMIN = "all-may-be-done"
#: Set to build a missing server before the tests, which takes ten minutes.
BUILD = "WINDLASS_BUILD_APISERVER"
Tree = dict[str, Any]


def binaries() -> Path:
    """The folder of ``etcd`` and ``kube-apiserver``; skips where they are not."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "windlass" / "apiserver"
    script = Path(__file__).with_name("build_apiserver.sh")
    if os.environ.get(BUILD):
        built = subprocess.run([str(script), str(folder)], capture_output=True, text=True)
        if built.returncode != 0:
            pytest.skip(f"kube-apiserver cannot be built: {built.stderr.strip().splitlines()[-1]}")
    if not all((folder / name).exists() for name in ("etcd", "kube-apiserver")):
        pytest.skip(f"needs a kube-apiserver in {folder}: {script.relative_to(ROOT)} builds it, or {BUILD}=1")
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl, for the key that signs tokens")
    return folder


@contextmanager
def served_real(folder: Path, buffers: bool = True) -> Iterator[Served]:
    """Run a server that allows the autoscaler exactly what its roles allow."""
    programs = binaries()
    client, peer, port = _ports(3)
    with (
        _running([programs / "etcd", *_etcd(folder, client, peer)], folder / "etcd.log"),
        _running(
            [programs / "kube-apiserver", *_apiserver(folder, client, port)], folder / "apiserver.log"
        ) as program,
    ):
        url, authority = f"https://127.0.0.1:{port}", folder / "certs" / "apiserver.crt"
        assert wait_until(lambda: authority.exists(), PATIENCE), _end(folder)
        assert wait_until(lambda: _is_ready(url, authority), PATIENCE), _end(folder)
        admin = kubeconfig(folder / "admin", url, ADMIN, authority)
        server = ApiServer(str(admin))
        # The server creates this one itself, after a while.
        assert wait_until(lambda: _is_there(server, "/api/v1/namespaces/default"), PATIENCE), _end(folder)
        for name in ("namespace", "autoscaler"):
            for each in yaml.safe_load_all((ROOT / f"deploy/kubernetes/{name}.yaml").read_text()):
                make(server, each)
        make(server, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "never"}})
        if buffers:
            define_buffers(server)

        def bind(name: str, where: str) -> None:
            target = {"apiVersion": "v1", "kind": "Node", "name": where}
            body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": target}
            server.send("POST", f"{PODS}/{name}/binding", body)

        @contextmanager
        def away() -> Iterator[None]:
            program.kill()
            yield
            program.start()
            assert wait_until(lambda: _is_ready(url, authority), PATIENCE), _end(folder)

        trust = ssl.create_default_context(cafile=str(authority))
        yield Served(Remote(url, trust), admin, _token(server), Cluster(server, bind, buffers), away)


def make(server: ApiServer, thing: Tree) -> None:
    """Create an object where its kind belongs."""
    api, meta = thing["apiVersion"], thing["metadata"]
    root = f"/apis/{api}" if "/" in api else f"/api/{api}"
    where = f"/namespaces/{meta['namespace']}" if "namespace" in meta else ""
    # So far all plurals of kinds that are needed end in an s.
    several = thing["kind"].lower() + ("es" if thing["kind"].endswith("s") else "s")
    server.send("POST", f"{root}{where}/{several}", thing)


def define_buffers(server: ApiServer) -> None:
    """Define the part of a CapacityBuffer that this project writes."""
    reference = {"type": "object", "properties": {"name": {"type": "string"}}}
    replicas = {"type": "integer", "minimum": 0}
    spec = {"type": "object", "properties": {"podTemplateRef": reference, "replicas": replicas}}
    version = {
        "name": "v1beta1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
    }
    make(
        server,
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "capacitybuffers.autoscaling.x-k8s.io"},
            "spec": {
                "group": "autoscaling.x-k8s.io",
                "scope": "Namespaced",
                "names": {"kind": "CapacityBuffer", "plural": "capacitybuffers"},
                "versions": [version],
            },
        },
    )

    assert wait_until(lambda: _is_there(server, BUFFERS.format(NAMESPACE)), PATIENCE)


def _is_there(server: ApiServer, path: str) -> bool:
    try:
        server.get(path)
    except ClusterError:
        return False
    return True


def _token(server: ApiServer) -> str:
    path = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/autoscaler/token"
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    return str(server.send("POST", path, body)["status"]["token"])


def _etcd(folder: Path, client: int, peer: int) -> list[str]:
    here, there = f"http://127.0.0.1:{client}", f"http://127.0.0.1:{peer}"
    named = {
        "data-dir": folder / "etcd",
        "listen-client-urls": here,
        "advertise-client-urls": here,
        "listen-peer-urls": there,
        "initial-advertise-peer-urls": there,
        "initial-cluster": f"default={there}",
    }
    return [f"--{name}={value}" for name, value in named.items()]


def _apiserver(folder: Path, etcd: int, port: int) -> list[str]:
    key, tokens = folder / "key.pem", folder / "tokens.csv"
    subprocess.run(["openssl", "genrsa", "-out", str(key), "2048"], check=True, capture_output=True)
    tokens.write_text(f'{ADMIN},admin,admin,"system:masters"\n')
    named = {
        "etcd-servers": f"http://127.0.0.1:{etcd}",
        "bind-address": "127.0.0.1",
        "advertise-address": "127.0.0.1",
        "secure-port": port,
        "cert-dir": folder / "certs",
        "authorization-mode": "RBAC",
        "token-auth-file": tokens,
        "service-account-issuer": "https://windlass.test",
        "service-account-signing-key-file": key,
        "service-account-key-file": key,
        "service-cluster-ip-range": "10.0.0.0/24",
        "endpoint-reconciler-type": "none",
        # Pods of these tests have no service account, as no controller creates one for their namespace.
        "disable-admission-plugins": "ServiceAccount",
    }
    return [f"--{name}={value}" for name, value in named.items()]


class _Program:
    """A program that can be restarted with the same command, and its log."""

    def __init__(self, command: Sequence[object], log: Path) -> None:
        self._command, self._log = [str(part) for part in command], log
        self.start()

    def start(self) -> None:
        with open(self._log, "a") as file:
            self._process = subprocess.Popen(self._command, stdout=file, stderr=file)

    def kill(self) -> None:
        """Kill it at once, without a clean shutdown."""
        self._process.kill()
        self._process.wait()

    def end(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(PATIENCE)
        finally:
            self.kill()


@contextmanager
def _running(command: Sequence[object], log: Path) -> Iterator[_Program]:
    program = _Program(command, log)
    try:
        yield program
    finally:
        program.end()


def _is_ready(url: str, authority: Path) -> bool:
    request = urllib.request.Request(f"{url}/readyz", headers={"Authorization": f"Bearer {ADMIN}"})
    try:
        trust = ssl.create_default_context(cafile=str(authority))
        with urllib.request.urlopen(request, context=trust, timeout=10.0) as response:
            return bool(response.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _end(folder: Path) -> str:
    return "\n".join((folder / "apiserver.log").read_text().splitlines()[-20:])


def _ports(count: int) -> list[int]:
    """Return `count` free ports."""
    probes = [socket.socket() for _ in range(count)]
    for probe in probes:
        probe.bind(("127.0.0.1", 0))
    found = [int(probe.getsockname()[1]) for probe in probes]
    for probe in probes:
        probe.close()
    return found
