"""Each policy of the pages add-a-policy and policy-examples runs, passes the checks, and can be put into its folder."""

from __future__ import annotations

import doctest
import importlib
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from windlass.admit import POLICIES as ADMIT
from windlass.cli import main
from windlass.cli.overrides import Overrides, scenario_of
from windlass.dispatch import POLICIES as DISPATCH
from windlass.experiment.checks import check_policy
from windlass.model import JobTable
from windlass.order.fleet import POLICIES as ORDER_FLEET
from windlass.order.site import POLICIES as ORDER_SITE
from windlass.place import POLICIES as PLACE
from windlass.plan import POLICIES as PLAN
from windlass.policy.registry import Registry
from windlass.scale import POLICIES as SCALE
from windlass.share import POLICIES as SHARE
from windlass.sim import replay

ROOT = Path(__file__).parents[2]
#: The page on the first decision, and the page with one policy for each of the others.
PAGE = "\n".join(
    (ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("add-a-policy.md", "policy-examples.md")
)


@dataclass(frozen=True)
class Kind:
    """A decision, the pages' policy for it by its file, and a scenario that runs in little time."""

    registry: Registry
    file: str
    scenario: str

    @property
    def name(self) -> str:
        return self.file.removesuffix(".py").replace("_", "-")

    @property
    def code(self) -> str:
        """The first block of its section."""
        section = PAGE[: PAGE.index(f"./{self.file}")].rpartition("\n## ")[2]
        return re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)[0]


SITES = (
    "{sites: [{name: a, slots: 2, up: 1.0e+7, down: 1.0e+7}, {name: b, slots: 1, up: 1.0e+7, down: 1.0e+7}]}"
)
JOBS = "{jobs: [{stages: [{task_s: 1, input: {a: 1, b: 3}, task_bytes: 10}, {task_s: 1, tasks: 2, parents: [0]}]}]}"
FIXED = """
world: fleet
cluster: {alike: {sites: 3, slots: 20}}
workload: {fixed: {jobs: 20}}
policies: {order: swag}
"""
KINDS = [
    Kind(ORDER_SITE, "narrowest.py", "workload: {lublin: {jobs: 50}}\npolicies: {order: easy}\n"),
    Kind(ORDER_FLEET, "fewest_sites.py", FIXED),
    Kind(PLACE, "nearest.py", f"world: fleet\ncluster: {SITES}\nworkload: {JOBS}\n"),
    Kind(
        DISPATCH,
        "shortest_of_three.py",
        "world: dispatch\ncluster: {groups: [{workers: 4, speed: 1}]}\nworkload: {tasks: 300}\n",
    ),
    Kind(
        SHARE,
        "idlest.py",
        "world: sharing\ncluster: {processors: 100}\nworkload: {lublin: {jobs: 100}}\n"
        "policies: {order: easy, share: none}\n",
    ),
    Kind(
        SCALE,
        "lately.py",
        "world: elastic\ncluster: {types: [{name: s, cores: 4, most: 50}]}\nworkload: {drawn: {days: 1}}\n",
    ),
    Kind(
        ADMIT,
        "climbing.py",
        "world: admission\ncluster: {nodes: 4}\nworkload: {tasks: 300}\npolicies: {dispatch: jsq, admit: always}\n",
    ),
    Kind(
        PLAN,
        "in_turn.py",
        "world: video\ncluster: {cameras: 2}\nworkload: {seconds: 60, begin: 2}\npolicies: {plan: fair}\n",
    ),
]
each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.registry.decision)

#: Modules whose examples name or count policies.
LISTING = (
    "windlass.admit",
    "windlass.experiment.checks.suite",
    "windlass.cli.inspect",
    "windlass.policy.discovery",
    "windlass.dispatch",
    "windlass.order",
    "windlass.order.fleet",
    "windlass.order.site",
    "windlass.place",
    "windlass.plan",
    "windlass.policy.registry",
    "windlass.scale",
    "windlass.share",
    "windlass.experiment.worlds",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder with the page's policies: one for all tests, so that what is compiled is compiled once."""
    made = tmp_path_factory.mktemp("mine")
    for kind in KINDS:
        (made / kind.file).write_text(kind.code)
        (made / f"{kind.name}.yaml").write_text(kind.scenario)
    (made / "examples").symlink_to(ROOT / "examples")
    return made


@pytest.fixture
def run(folder, monkeypatch, capsys):
    """The command, in the folder; what it prints, read as JSON."""
    monkeypatch.chdir(folder)

    def call(*arguments: str):
        monkeypatch.setattr(sys, "argv", ["windlass", "run", *arguments, "--seeds", "1", "--json"])
        with pytest.raises(SystemExit) as stop:
            main()
        assert stop.value.code in (0, None)
        return json.loads(capsys.readouterr().out)

    return call


@pytest.fixture
def installed_policies(folder, tmp_path, monkeypatch):
    """Add each policy to the folder of its decision."""
    for kind in KINDS:
        own = tmp_path / kind.registry.decision
        own.mkdir()
        (own / kind.file).write_text(kind.code)
        package = importlib.import_module(kind.registry.package)
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(own)])
    yield
    for kind in KINDS:
        sys.modules.pop(f"{kind.registry.package}.{kind.file.removesuffix('.py')}", None)


@each_kind
def test_each_policy_is_a_short_file(kind: Kind):
    assert 10 <= len([line for line in kind.code.splitlines() if line.strip()]) <= 25


@pytest.mark.matrix
@each_kind
def test_each_policy_runs_from_its_file(kind: Kind, run):
    (variant,) = run(f"{kind.name}.yaml", "--policies", f"{kind.registry.key}=./{kind.file}")["variants"]
    assert variant["policies"][kind.registry.key] == kind.name


@pytest.mark.matrix
@each_kind
def test_each_policy_passes_the_check_as_called_on_the_page(kind: Kind, folder, monkeypatch):
    monkeypatch.chdir(folder)
    (snippet,) = re.findall(rf'```python\n([^`]*check_policy\(POLICIES, "./{kind.file}"\)\n)```', PAGE)
    checked: list[object] = []
    monkeypatch.setattr(
        "windlass.experiment.checks.check_policy", lambda registry, name: checked.append((registry, name))
    )
    exec(snippet, {})
    assert checked == [(kind.registry, f"./{kind.file}")]
    check_policy(kind.registry, f"./{kind.file}")


@each_kind
def test_the_command_on_the_page_compares_the_policy_with_others(kind: Kind, folder, monkeypatch):
    monkeypatch.chdir(folder)
    (words,) = re.findall(rf"^windlass run (.*\./{kind.file})$", PAGE, flags=re.MULTILINE)
    target, _, policies = words.rpartition("--policies ")
    scenario = scenario_of(target.strip() or None, Overrides(policies=policies))
    names = [variant.name for variant in scenario.variants]
    assert 2 * sum(kind.name in name for name in names) == len(names)


@each_kind
def test_a_file_in_the_policies_folder_is_registered(kind: Kind, installed_policies):
    assert kind.name in kind.registry.names()


@pytest.mark.matrix
@each_kind
def test_a_file_in_the_policies_folder_runs_by_name(kind: Kind, run, installed_policies):
    (variant,) = run(f"{kind.name}.yaml", "--policies", f"{kind.registry.key}={kind.name}")["variants"]
    assert variant["policies"][kind.registry.key] == kind.name


@pytest.mark.matrix
@pytest.mark.parametrize("module", LISTING)
def test_a_new_policy_breaks_no_docstring_example(module: str, installed_policies):
    assert all(kind.name in kind.registry.names() for kind in KINDS)
    found = doctest.testmod(importlib.import_module(module))
    assert found.failed == 0


@pytest.mark.matrix(0)
def test_the_compiled_version_decides_as_the_plain_one(tmp_path):
    plain, compiled = re.findall(r"```python\n([^`]*class Narrowest.*?)```", PAGE, flags=re.DOTALL)
    rng = np.random.default_rng(1)
    jobs = JobTable.of(
        submit=np.sort(rng.integers(0, 300, 200)), run=rng.integers(1, 30, 200), procs=rng.integers(1, 9, 200)
    )
    starts = []
    for name, code in (("plain.py", plain), ("compiled.py", compiled)):
        (tmp_path / name).write_text(code)
        starts.append(replay(jobs, 8, ORDER_SITE.make(str(tmp_path / name), rng)).start)
    assert np.array_equal(*starts)
    check_policy(ORDER_SITE, str(tmp_path / "compiled.py"))
