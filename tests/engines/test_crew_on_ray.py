"""Worker pools on Ray: address, raylets and files are passed on, and Ray may be missing."""

import importlib
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from windlass.engines.worker_pool import crews_on
from windlass.model import InputError


@pytest.mark.parametrize(
    ("where", "more", "expected"),
    [
        ("ray", {}, (None, 1, ())),
        ("ray", {"nodes": 3}, (None, 3, ())),
        ("ray:head:6379", {"files": [Path("a"), Path("b")]}, ("head:6379", 1, (Path("a"), Path("b")))),
        ("ray:auto", {"nodes": 2, "files": iter([Path("c")])}, ("auto", 2, (Path("c"),))),
    ],
)
def test_arguments_are_passed_on_to_the_worker_pool(where, more, expected, monkeypatch):
    seen, made = [], object()

    def crews(*given):
        seen.append(given)
        return made

    monkeypatch.setitem(sys.modules, "windlass.engines.ray.worker_pool", SimpleNamespace(crews=crews))
    assert crews_on(where, **more) is made
    assert seen == [expected]


@pytest.mark.parametrize(("missing", "error"), [("ray", InputError), ("windlass.gone", ModuleNotFoundError)])
def test_a_missing_ray_is_an_input_error_and_other_import_errors_are_raised(missing, error, monkeypatch):
    def fails(name):
        raise ModuleNotFoundError(f"No module named {missing!r}", name=missing)

    monkeypatch.setattr(importlib, "import_module", fails)
    with pytest.raises(error, match="ray is not installed" if missing == "ray" else "windlass.gone"):
        crews_on("ray")
