"""Every registered policy of every decision passes the suite, and broken policies fail it."""

import importlib
from pathlib import Path

import pytest

from tests.conftest import EXAMPLES
from windlass.experiment.checks import CheckError, check_policy
from windlass.experiment.checks.suite import checks_of
from windlass.experiment.worlds import worlds
from windlass.policy.registry import decisions

REGISTRIES = {registry.decision: registry for registry in decisions()}
#: Policies of each decision whose checks are ordinary; those of the others, which compile much, are slow, except where
#: all cases of a matrix are ordinary.
ORDINARY = {
    "admit": ("forewarn", "ready"),
    "dispatch": ("pot", "pull"),
    "order.fleet": ("fcfs", "swag"),
    "order.site": ("easy", "sjf"),
    "place": ("gather",),
    "plan": ("cascade",),
    "scale": ("reactive", "thrifty"),
    "share": ("asax", "pairs"),
}
CASES = [
    pytest.param(
        registry,
        name,
        check,
        id=f"{registry.decision}-{name}-{check.__name__}",
        marks=() if name in ORDINARY[registry.decision] or EXAMPLES >= 1.0 else pytest.mark.slow,
    )
    for registry in REGISTRIES.values()
    for name in registry.names()
    for check in checks_of(registry.decision)
]


def test_the_decisions_of_all_worlds_are_registered():
    assert {registry.decision for world in worlds() for registry in world.decisions} <= set(REGISTRIES)


def test_policies_that_know_the_future_are_bounds():
    bounds = [
        (decision, name)
        for decision, registry in REGISTRIES.items()
        for name in registry.names()
        if getattr(registry.find(name), "bound", False) is True
    ]
    assert bounds == [("scale", "clairvoyant"), ("share", "oracle")]


@pytest.mark.parametrize("decision", REGISTRIES)
def test_the_ordinary_policies_exist(decision):
    assert set(ORDINARY[decision]) <= set(REGISTRIES[decision].names())


@pytest.mark.parametrize("decision", REGISTRIES)
def test_every_check_in_the_module_of_a_decision_is_listed_once(decision):
    module = importlib.import_module(f"windlass.experiment.checks.{decision}")
    own = [
        value
        for name, value in vars(module).items()
        if name.startswith("check_") and value.__module__ == module.__name__
    ]
    names = [check.__name__ for check in checks_of(decision)]
    assert [check for check in module.CHECKS if check in own] == own
    assert len(names) == len(set(names))


@pytest.mark.parametrize(("registry", "name", "check"), CASES)
def test_each_registered_policy_passes(registry, name, check):
    check(registry, name)


POLICY = '''
class Broken:
    """Starts the head of the queue when it fits; here to be broken in one way.

    >>> 1 + 1
    {two}
    """

    name = "{name}"

    def __init__(self, {parameter}):
        pass

    def decide(self, view):
        from windlass.order.site.view import Start
        {extra}
        head = view.waiting.job[:1] if view.waiting.procs[0] <= view.free else []
        return Start(tuple(int(job) for job in head), why="{why}")
'''
GOOD = {"name": "broken", "two": "2", "parameter": "depth=1", "why": "head fits", "extra": "pass"}
BROKEN = {
    "the example fails": {"two": "3"},
    "expected lower-case letters": {"name": "Broken Policy"},
    "parameter depth has no default": {"parameter": "depth"},
    "without a reason": {"why": ""},
    "changes the view": {"extra": "view.waiting.note[0] = 1"},
    "global generator": {"extra": "import numpy; numpy.random.rand()"},
    "no docstring": None,
}


def write(tmp_path: Path, changes) -> str:
    text = POLICY.format(**{**GOOD, **(changes or {})})
    if changes is None:
        text = text.replace(text[text.index('    """') : text.index("    name =")], "")
    path = tmp_path / "broken.py"
    path.write_text(text)
    return str(path)


def test_a_valid_policy_file_passes(tmp_path):
    check_policy(REGISTRIES["order.site"], write(tmp_path, {}))


@pytest.mark.matrix
@pytest.mark.parametrize("problem", BROKEN)
def test_a_broken_policy_file_fails(tmp_path, problem):
    with pytest.raises(CheckError, match=problem):
        check_policy(REGISTRIES["order.site"], write(tmp_path, BROKEN[problem]))
