"""The choice of the cluster: that of a file, of a context, or of the pod."""

from __future__ import annotations

from contextlib import closing

import pytest
import yaml

pytest.importorskip("kubernetes", reason="needs the package kubernetes")
import kubernetes

from tests.engines.kubernetes.between import Between, OneAnswer
from tests.engines.kubernetes.things import kubeconfig
from windlass.engines.kubernetes import server
from windlass.engines.kubernetes.access import Access
from windlass.engines.kubernetes.server import ApiServer
from windlass.model import InputError


@pytest.fixture
def upstream():
    return OneAnswer()


@pytest.fixture
def between(upstream):
    with closing(Between(upstream)) as found:
        yield found


def two_contexts(file, url):
    tree = yaml.safe_load(kubeconfig(file, "http://127.0.0.1:9").read_text())
    tree["clusters"].append({"name": "there", "cluster": {"server": url}})
    tree["contexts"].append({"name": "there", "context": {"cluster": "there", "user": "me"}})
    file.write_text(yaml.safe_dump(tree))
    return str(file)


def test_a_context_of_the_file_may_be_chosen(between, tmp_path):
    file = two_contexts(tmp_path / "config", between.url)
    assert ApiServer(file).host == "http://127.0.0.1:9"
    assert ApiServer(file, "there").host == between.url
    with pytest.raises(InputError, match=f"--kubeconfig: {file}: "):
        ApiServer(file, "nowhere")


@pytest.fixture
def configs(monkeypatch):
    """The loaded configurations, without a real cluster."""
    found = []

    def pod_s():
        found.append("service account")
        return Access("https://inside")

    def user_s(config, context, client_configuration):
        found.append((config, context))
        client_configuration.host = "https://own"

    monkeypatch.setattr(server, "service_account", pod_s)
    monkeypatch.setattr(kubernetes.config, "load_kube_config", user_s)
    return found


def test_a_pod_uses_its_service_account_unless_a_file_or_context_is_given(configs):
    assert ApiServer().host == "https://inside"
    assert ApiServer("file").host == "https://own"
    assert ApiServer(context="there").host == "https://own"
    assert configs == ["service account", ("file", None), (None, "there")]


def test_outside_of_a_pod_the_user_s_kubeconfig_is_used(configs, monkeypatch):
    def nowhere():
        raise InputError("not in a cluster")

    monkeypatch.setattr(server, "service_account", nowhere)
    assert ApiServer().host == "https://own"
    assert configs == [(None, None)]


@pytest.mark.parametrize("error", [kubernetes.config.ConfigException, OSError, TypeError, ValueError])
def test_the_error_without_a_configured_cluster_is_one_line(configs, monkeypatch, error):
    def broken(*_, **__):
        raise error("no\n  file")

    monkeypatch.setattr(kubernetes.config, "load_kube_config", broken)
    with pytest.raises(InputError, match=r"^no cluster is configured: no file$"):
        ApiServer(context="there")
    with pytest.raises(InputError, match=r"^--kubeconfig: mine: no file$"):
        ApiServer("mine")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=rf"^--kubeconfig: {tmp_path}/none: no such file$"):
        ApiServer(str(tmp_path / "none"))
