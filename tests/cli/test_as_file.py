"""`--as-file` prints the file by which `windlass serve` runs the same engine."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from windlass.control.cluster_file import read_cluster, read_engine

TYPES = "types: [{name: small, cores: 4, most: 9}]"


def printed(windlass, *words):
    status, out, err = windlass(*words, "--as-file")
    assert status == 0, err
    return yaml.safe_load(out)["engines"][0], out


SLURM = ("slurm", "drive", "--policies")
SHARED = "order=queue(priority=sjf,backfill=easy),share=pairs(budget=0.05)"
SLURM_OPTIONS = ("--look", "0.5", "--partition", "p", "--keep-held", "--patience", "7", "--conf", "/c")
K8S = ("k8s", "autoscale", "--types", "/t")
K8S_OPTIONS = ("--context", "x", "--namespace", "n", "--label", "l", "--history", "/h", "--period", "300")
RAY = ("ray", "autoscale", "--types", "/t", "--address", "127.0.0.1:6379")


@pytest.mark.parametrize(
    ("words", "fields"),
    [
        ((*SLURM, "easy"), {"engine": "slurm", "policies": {"order": "easy"}}),
        (
            (*SLURM, SHARED),
            {
                "engine": "slurm",
                "policies": {
                    "order": {"queue": {"priority": "sjf", "backfill": "easy"}},
                    "share": {"pairs": {"budget": 0.05}},
                },
            },
        ),
        (
            (*SLURM, "easy", *SLURM_OPTIONS, "--journal", "/b"),
            {
                "engine": "slurm",
                "policies": {"order": "easy"},
                "period": 0.5,
                "partition": "p",
                "patience": 7.0,
                "keep_held": True,
                "book": "/b",
                "conf": "/c",
            },
        ),
        (
            (*K8S, "--policy", "{predictive: {quantile: 0.9}}", *K8S_OPTIONS, "--kubeconfig", "/k"),
            {
                "engine": "kubernetes",
                "types": "/t",
                "policy": {"predictive": {"quantile": 0.9}},
                "history": "/h",
                "kubeconfig": "/k",
                "context": "x",
                "namespace": "n",
                "label": "l",
            },
        ),
        (
            (*RAY, "--policy", "thrifty"),
            {"engine": "ray", "types": "/t", "address": "127.0.0.1:6379"},
        ),
    ],
)
def test_the_file_has_the_options_that_differ_from_the_defaults(windlass, words, fields):
    found, _ = printed(windlass, *words)
    assert found == fields
    read_engine(found)


def test_the_file_can_be_served_from_any_folder(windlass, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("types.yaml").write_text(TYPES)
    text = "from windlass.order.site.policies.easy import Easy\n\nclass Mine(Easy):\n    name = 'mine'\n"
    Path("mine.py").write_text(text)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    Path("elsewhere").mkdir()
    for words, about in (
        (("slurm", "drive", "--policies", "order=./mine.py:Mine"), "Slurm, order by mine; decides only"),
        (
            ("ray", "autoscale", "--types", "types.yaml", "--address", "127.0.0.1:6379"),
            "Ray, scale by thrifty; decides only",
        ),
    ):
        _, text = printed(windlass, *words)
        (tmp_path / "elsewhere" / "cluster.yaml").write_text(text)
        monkeypatch.chdir(tmp_path / "elsewhere")
        (engine,) = read_cluster(Path("cluster.yaml"), acts=False, report=print).engines
        assert engine.about == about
        monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("slurm", "drive", "--policies", "easy", "--until-idle"), "--until-idle"),
        (("slurm", "drive", "--policies", "easy", "--metrics", "1"), "--metrics"),
        (("k8s", "autoscale", "--types", "t", "--lease", "5"), "--lease"),
        (("ray", "autoscale", "--types", "t", "--address", "a:1", "--dry-run"), "--dry-run"),
        (("slurm", "drive", "--policies", "admit=pronto"), "admit"),
        (("k8s", "autoscale", "--types", "t", "--period", "0"), "period"),
    ],
)
def test_what_the_file_does_not_have_is_refused(windlass, words, why):
    status, out, err = windlass(*words, "--as-file")
    assert (status, out) == (2, "")
    assert why in err
