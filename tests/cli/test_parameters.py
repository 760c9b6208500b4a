"""Policies with parameters on the command line, ``-h``, and shell completion."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from windlass.cli.app import commands
from windlass.cli.overrides import Overrides, overridden
from windlass.experiment.scenario import load_scenario, make_scenario
from windlass.model import InputError

ROOT = Path(__file__).parents[2]
PRIORITY = '''
class Mine:
    """The narrowest goes first."""

    name = "mine"

    @staticmethod
    def score(view, row):
        return view.procs[row]
'''


def policies(text: str):
    return overridden({"policies": {"order": "fcfs"}}, Overrides(policies=text))["policies"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("easy, sjf", ["easy", "sjf"]),
        ("queue(priority=sjf,backfill=easy)", [{"queue": {"priority": "sjf", "backfill": "easy"}}]),
        ("easy,queue( priority = sjf )", ["easy", {"queue": {"priority": "sjf"}}]),
        ("queue(priority=[sjf, saf])", [{"queue": {"priority": ["sjf", "saf"]}}]),
        (
            "/a/mine.py:Mine(depth=3,share=0.5,on=true)",
            [{"/a/mine.py:Mine": {"depth": 3, "share": 0.5, "on": True}}],
        ),
        ("order=easy,queue(priority=saf)", ["easy", {"queue": {"priority": "saf"}}]),
        (
            "easy,queue(priority=multifactor(weight_age=500, accounts=true, qos='a=1 b=2'), backfill=easy)",
            [
                "easy",
                {
                    "queue": {
                        "priority": {"multifactor": {"weight_age": 500, "accounts": True, "qos": "a=1 b=2"}},
                        "backfill": "easy",
                    }
                },
            ],
        ),
        (
            "queue(priority=[sjf, multifactor(weight_age=1, max_age=60)])",
            [{"queue": {"priority": ["sjf", {"multifactor": {"weight_age": 1, "max_age": 60}}]}}],
        ),
        (
            "queue(priority=/a/m.py:M(of=N (d=[1, 2])))",
            [{"queue": {"priority": {"/a/m.py:M": {"of": {"N": {"d": [1, 2]}}}}}}],
        ),
    ],
)
def test_policy_parameters_parse_as_in_a_scenario(text, expected):
    assert policies(text) == {"order": expected}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("queue(priority=sjf", "has an unmatched bracket"),
        ("queue)priority", "has an unmatched bracket"),
        ("queue(sjf)", "'sjf' in 'queue(sjf)' is not a parameter, expected name=value"),
        ("queue()", "'' in 'queue()' is not a parameter"),
        ("(priority=sjf)", "is not a policy, expected one such as queue(priority=sjf)"),
        ("queue(priority=sjf)x", "is not a policy"),
        ("queue(priority=sjf,priority=saf)", "has priority twice"),
        ("queue(priority=@)", "'@' in 'queue(priority=@)' is not a value"),
        (
            "queue(priority=multifactor(500))",
            "'500' in 'multifactor(500)' is not a parameter, expected name=value",
        ),
        ("queue(priority=multifactor(weight_age=1)x)", "is not a policy"),
        ("queue(priority=multifactor(weight_age=1,weight_age=2))", "has weight_age twice"),
        ("a(b=" * 101 + ")" * 101, "has 101 brackets, expected at most 100"),
    ],
)
def test_a_malformed_policy_is_a_one_line_error(text, expected):
    with pytest.raises(InputError) as caught:
        policies(text)
    assert str(caught.value).startswith("--policies: ")
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_variant_names_of_a_table_are_accepted_as_policies(windlass):
    labels = [
        "queue(priority=saf, backfill=easy)",
        "queue(priority=multifactor(weight_age=500, fair_tree=False), backfill=conservative)",
    ]
    status, out, _ = windlass("validate", "--policies", ",".join(["easy", *labels]), "--json")
    assert (status, json.loads(out)["variants"]) == (0, ["easy", *labels])


@pytest.mark.matrix(0)
def test_a_priority_file_is_relative_to_the_scenario_folder(tmp_path, monkeypatch, windlass):
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "mine.py").write_text(PRIORITY)
    text = "workload: {lublin: {jobs: 20}}\npolicies: {order: {queue: {priority: mine.py, backfill: none}}}\n"
    (tmp_path / "here" / "s.yaml").write_text(text)
    status, _, err = windlass("run", "here/s.yaml", "--out", "out")
    assert status == 0, err
    (variant,) = load_scenario(tmp_path / "out" / "scenario.yaml").variants
    assert variant.name == "queue(priority=mine.py, backfill=none)"
    monkeypatch.chdir(tmp_path / "here")
    shutil.rmtree(tmp_path / "out")
    assert windlass("validate", "--policies", "queue(priority=./mine.py)")[0] == 0


def test_parameters_that_are_not_files_are_unchanged():
    tree = {"workload": {"lublin": {"jobs": 9}}, "policies": {"order": {"queue": {"priority": "sjf"}}}}
    assert make_scenario(tree).variants[0].setting.policies.order.parameters == {"priority": "sjf"}


def named(group: object, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield before
    for name, command in getattr(group, "commands", {}).items():
        yield from named(command, (*before, name))


@pytest.mark.matrix
@pytest.mark.parametrize("command", list(named(commands())), ids=" ".join)
def test_h_prints_the_help_of_every_command(windlass, command):
    short, long = (windlass(*command, option) for option in ("-h", "--help"))
    assert short == long
    assert short[0] == 0
    assert "Usage: " in short[1]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("windlass va", {"validate"}),
        ("windlass run --req", {"--require"}),
        ("windlass slurm d", {"down", "drive"}),
    ],
)
def test_a_shell_completes_commands_and_options(windlass, monkeypatch, words, expected):
    # Under `python -m pytest`, Typer would derive the program's name from the module.
    monkeypatch.setattr(sys.modules["__main__"], "__package__", None)
    monkeypatch.setenv("_WINDLASS_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    status, out, _ = windlass()
    assert status == 0
    assert set(out.split()) == expected


def test_completion_is_offered(windlass):
    assert "--install-completion" in windlass("-h")[1]
