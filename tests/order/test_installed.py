"""Policies that an installed package offers by entry point."""

import json
import sys

import numpy as np
import pytest

from tests.order.test_registry import WIDEST
from windlass.cli import main
from windlass.model import InputError
from windlass.order.site import POLICIES
from windlass.policy import installed
from windlass.policy.user_code import is_user_code, place_of

PACKAGE = "widest_package"
DOCUMENTED = WIDEST.replace(
    '"""The widest job that fits goes first."""',
    '"""The widest job that fits goes first.\n\n    >>> Widest.name\n    \'widest\'\n    """',
)


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Put a package with these entry points on the path, as pip would."""

    def call(points: str, source: str = DOCUMENTED):
        (tmp_path / PACKAGE).mkdir()
        (tmp_path / PACKAGE / "__init__.py").write_text("")
        (tmp_path / PACKAGE / "first.py").write_text(source)
        data = tmp_path / f"{PACKAGE}-1.0.dist-info"
        data.mkdir()
        (data / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {PACKAGE}\nVersion: 1.0\n")
        (data / "entry_points.txt").write_text(f"[windlass.policies]\n{points}\n")
        monkeypatch.syspath_prepend(str(tmp_path))
        installed._entries.cache_clear()
        installed.packages.cache_clear()

    yield call
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]
    monkeypatch.undo()
    installed._entries.cache_clear()
    installed.packages.cache_clear()


def test_an_installed_policy_is_found_by_name_and_listed(install):
    install(f"order.site.widest = {PACKAGE}.first:Widest")
    assert "widest" in POLICIES.names()
    policy = POLICIES.make("widest", np.random.default_rng(1))
    assert policy.name == "widest"
    assert is_user_code(policy)
    assert "first.py, line " in place_of(policy)
    assert installed.names_of("order") == installed.names_of("order.fleet") == ()


def test_run_check_and_list_accept_an_installed_policy(install, tmp_path, monkeypatch, capsys):
    install(f"order.site.widest = {PACKAGE}.first:Widest")
    monkeypatch.chdir(tmp_path)

    def windlass(*arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", ["windlass", *arguments])
        with pytest.raises(SystemExit) as stop:
            main()
        captured = capsys.readouterr()
        assert stop.value.code in (None, 0), captured.err
        return captured.out

    (tmp_path / "log.swf").write_text(
        "".join(
            f"{n} {n} -1 {60 * n} {n % 4 + 1} -1 -1 {n % 4 + 1} {90 * n}" + " -1" * 9 + "\n"
            for n in range(1, 20)
        )
    )
    assert "widest" in windlass("list")
    assert json.loads(windlass("check", "widest", "--json"))["passed"] is True
    found = json.loads(windlass("run", "log.swf", "--procs", "4", "--policies", "fcfs,widest", "--json"))
    assert "widest" in json.dumps(found)


def test_a_built_in_policy_keeps_its_name(install):
    install(f"order.site.easy = {PACKAGE}.first:Widest")
    assert POLICIES.find("easy").__module__ == "windlass.order.site.policies.easy"
    assert POLICIES.names().count("easy") == 1


@pytest.mark.parametrize(
    ("points", "source", "problem"),
    [
        (
            "order.site.widest = {}.second:Widest",
            DOCUMENTED,
            "cannot be imported: ModuleNotFoundError: No module",
        ),
        ("order.site.widest = {}.first:Wide", DOCUMENTED, "cannot be imported: AttributeError"),
        (
            "order.site.widest = {}.first:Widest",
            "1 / 0",
            "cannot be imported: ZeroDivisionError: division by zero",
        ),
        ("order.site.widest = {}.first:SiteView", DOCUMENTED, r"expected a class with decide\(\)"),
        ("order.site.wide = {}.first:Widest", DOCUMENTED, "its name is 'widest', expected 'wide'"),
        (
            "order.site.widest = {0}.first:Widest\n[windlass.policies]\norder.site.widest = {0}:Widest",
            DOCUMENTED,
            "'widest' is offered by widest_package.first:Widest and widest_package:Widest, expected one",
        ),
    ],
)
def test_errors_name_the_entry_point(install, points, source, problem):
    install(points.format(PACKAGE), source)
    name = points.partition(" =")[0].rpartition(".")[2]
    with pytest.raises(InputError, match=rf"policies\.order: .*{problem}"):
        POLICIES.find(name)
