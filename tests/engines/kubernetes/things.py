"""Objects for a server, and a kubeconfig file for it."""

from __future__ import annotations

from pathlib import Path

import yaml


def kubeconfig(file: Path, url: str, token: str = "secret", authority: Path | None = None) -> Path:
    """Write a kubeconfig file with a server and a user."""
    trust = {} if authority is None else {"certificate-authority": str(authority)}
    tree = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "clusters": [{"name": "here", "cluster": {"server": url, **trust}}],
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
        "users": [{"name": "me", "user": {"token": token}}],
    }
    file.write_text(yaml.safe_dump(tree))
    return file


def node(name: str, kind: str, ready: bool = True) -> dict[str, object]:
    """A node of a type."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"node.kubernetes.io/instance-type": kind}},
        "status": {"conditions": [{"type": "Ready", "status": "True" if ready else "False"}]},
    }


def pod(name: str, cores: str, on: str | None = None, **more: object) -> dict[str, object]:
    """A pod that requests cores; it waits, or runs on a node."""
    spec: dict[str, object] = {
        "containers": [{"name": "main", "image": "main", "resources": {"requests": {"cpu": cores}}}],
        **({} if on is None else {"nodeName": on}),
    }
    meta = {"name": name, "namespace": "default", "creationTimestamp": "2026-01-01T00:00:00Z", **more}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}
