"""Crews on Ray: the address, raylets and files that were given reach what makes them, and Ray may be missing."""

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
def test_what_was_given_reaches_the_crews(where, more, expected, monkeypatch):
    seen, made = [], object()

    def crews(*given):
        seen.append(given)
        return made

    monkeypatch.setitem(sys.modules, "windlass.engines.ray.worker_pool", SimpleNamespace(crews=crews))
    assert crews_on(where, **more) is made
    assert seen == [expected]


@pytest.mark.parametrize(("missing", "error"), [("ray", InputError), ("windlass.gone", ModuleNotFoundError)])
def test_a_missing_ray_is_named_and_an_error_of_windlass_is_its_own(missing, error, monkeypatch):
    def fails(name):
        raise ModuleNotFoundError(f"No module named {missing!r}", name=missing)

    monkeypatch.setattr(importlib, "import_module", fails)
    with pytest.raises(error, match="ray is not installed" if missing == "ray" else "windlass.gone"):
        crews_on("ray")
