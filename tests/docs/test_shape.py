"""All decisions have the same modules; additional ones are listed with the reason."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from windlass.admit.view import Admission
from windlass.order.fleet.view import JobOrder
from windlass.order.site.view import Start
from windlass.place.view import Placement
from windlass.plan.view import Plan
from windlass.policy.registry import decisions
from windlass.scale.view import Totals
from windlass.share.view import Sharing

SOURCE = Path(__file__).parents[2] / "src" / "windlass"
DECISIONS = [registry.decision for registry in decisions()]

#: What every decision has.
ALL = {"view", "policies", "lib"}
#: What a decision may have.
SOME = {"context", "functions", "compiled", "learned"}
#: What a decision has in addition.
FURTHER = {
    ("admit", "evaluation"): "policies judged over recorded telemetry",
    ("admit", "federation"): "what nodes know, merged up a tree",
    ("admit", "fleet"): "many nodes in one call",
    ("admit", "forecast"): "the forecasts of the policy alarm, for users of the library",
    ("admit", "measure"): "how good a signal is",
    ("admit", "saving"): "what nodes know as bytes",
    ("admit", "site"): "the input and output of a policy for all nodes of a site",
    ("admit", "shared_model"): "what nodes that run forewarn send each other",
    ("dispatch", "state"): "the flat state of compiled policies",
    ("order.site", "backfills"): "how the policy queue fills gaps",
    ("order.site", "ownership"): "owners of jobs, for policies that go by users",
    ("order.site", "queue_index"): "an index of a long queue, kept by a site and read by policies",
    ("order.site", "priorities"): "the priorities of the policy queue, one a file",
    ("order.site", "reservation"): "when waiting jobs can start at the latest, for reports",
    ("plan", "bound"): "what no plan can exceed",
    ("plan", "configurations"): "the numbers of a view, from queries and clusters",
    ("plan", "files"): "queries and clusters read from files",
    ("plan", "profile"): "plans measured on real video pipelines",
    ("plan", "proof"): "what is proven about plans of a problem",
    ("plan", "solve"): "several planners compared on the same queries",
    ("scale", "accuracy"): "how far a forecast is off",
    ("scale", "backtest"): "forecasters over a recorded history",
    ("scale", "base_instance"): "the type that a series begins with",
    ("scale", "bin_packing"): "how many instances the waiting jobs fill",
    ("scale", "embedding"): "needs of jobs as numbers of instances",
    ("scale", "forecast"): "forecasters",
    ("scale", "monitor"): "the history of needs, on disk",
    ("share", "allocation"): "the jobs of a view, which engines keep too",
    ("share", "book"): "what every engine keeps of jobs that run and share",
    ("share", "interference"): "how fast two jobs run together, from measured pairs",
    ("share", "learning"): "how well ASAx learns, compared with its theorem",
    ("share", "pairing"): "the allocations after an answer",
    ("share", "running"): "one job that runs, of the book",
    ("share", "usage"): "readings of counters as what a view has",
}
#: The answer of each decision; that of dispatching is a worker's number.
ANSWERS = {
    "admit": Admission,
    "order.fleet": JobOrder,
    "order.site": Start,
    "place": Placement,
    "plan": Plan,
    "scale": Totals,
    "share": Sharing,
}


def members_of(decision: str) -> set[str]:
    """The public modules and folders of a decision's package."""
    room = SOURCE.joinpath(*decision.split("."))
    files = {file.stem for file in room.glob("*.py")} | {
        file.parent.name for file in room.glob("*/__init__.py")
    }
    return {name for name in files if not name.startswith("_")}


@pytest.mark.parametrize("decision", DECISIONS)
def test_a_decision_has_the_common_modules_and_the_listed_ones(decision: str):
    members = members_of(decision)
    further = {name for known, name in FURTHER if known == decision}
    assert members >= ALL
    assert members - ALL - SOME == further


def test_listed_modules_have_a_decision_and_a_reason():
    assert {decision for decision, _ in FURTHER} <= set(DECISIONS)
    assert all(FURTHER.values())


@pytest.mark.parametrize("decision", ANSWERS)
def test_an_answer_validates_itself_with_the_view(decision: str):
    answer = ANSWERS[decision]
    view = SOURCE.joinpath(*decision.split("."), "view.py")
    assert list(inspect.signature(answer.check).parameters) == ["self", "view"]
    assert inspect.getsourcefile(answer) == str(view)


def test_every_decision_has_an_answer_class():
    assert {*ANSWERS, "dispatch"} == set(DECISIONS)
