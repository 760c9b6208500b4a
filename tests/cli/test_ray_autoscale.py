"""`windlass ray autoscale --dry-run` on a fake cluster: it prints what would be requested, and writes nothing."""

import contextlib

import yaml

from tests.engines.test_ray_scale import node, status
from windlass.control.scaling import clusters
from windlass.engines.ray.scale import RayScale


def test_a_dry_run_prints_the_requests_and_writes_nothing(windlass, tmp_path, monkeypatch):
    requested = []

    def ray(types, address):
        assert address == "127.0.0.1:6379"
        busy = status(active_nodes=[node("small", "a", CPU=4.0)])
        return lambda sleep: contextlib.nullcontext(RayScale(types, lambda: busy, requested.append))

    monkeypatch.setattr(clusters, "ray", ray)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    types = tmp_path / "types.yaml"
    types.write_text(yaml.safe_dump({"types": [{"name": "small", "cores": 4, "most": 5}]}))
    words = ("--types", str(types), "--address", "127.0.0.1:6379", "--policy", "{static: {count: 3}}")
    code, out, _ = windlass("ray", "autoscale", *words, "--dry-run")
    assert code == 0
    assert out.splitlines()[0].startswith("small: 3 in total, 1 ready: ")
    assert out.splitlines()[1:] == ["request_resources: 3 × {'CPU': 4.0}", "Nothing was changed."]
    # Neither a request nor a history of demand.
    assert requested == []
    assert [*tmp_path.iterdir()] == [types]
