"""Inputs of extreme sizes and forms are read, or refused in one line that names them."""

import polars as pl
import pytest

from windlass.admit.evaluation.recordings import EvaluationOptions
from windlass.cli.admit.command import _at_most
from windlass.io.traces.wan import read_wan
from windlass.io.traces.where import matching
from windlass.jit import prepare
from windlass.model import InputError
from windlass.order.fleet.compiled import select_of
from windlass.order.site.compiled import as_compiled

HEAD = "src_region,src_tier,dst_region,dst_tier,throughput_bits_per_s\n"
WAN = HEAD + "aws:a,PREMIUM,aws:b,PREMIUM,8e9\naws:b,PREMIUM,aws:a,PREMIUM,4e9\n"
TABLE = pl.DataFrame({"user": ["ann", "bob"], "procs": [1, 2]})


def test_a_byte_order_mark_of_measurements_is_skipped(tmp_path):
    path = tmp_path / "wan.csv"
    path.write_text("\ufeff" + WAN, encoding="utf-8")
    assert read_wan(path, ["aws:a", "aws:b"]).throughput.tolist() == [[0.0, 1e9], [5e8, 0.0]]


@pytest.mark.parametrize(
    ("slots", "message"),
    [
        ("1" + "0" * 30, "--slots: 1000000000000000000000000000000 is too large, expected at most 15 digits"),
        ("1e30", "--slots: '1e30' is not a whole number of 0 or more"),
        ("9" * 16, "--slots: 9999999999999999 is too large, expected at most 15 digits"),
    ],
)
def test_too_many_slots_are_refused(windlass, tmp_path, slots, message):
    (tmp_path / "wan.csv").write_text(WAN)
    call = ("cluster", "from-wan", "wan.csv", "--regions", "aws:a,aws:b", "--out", "c.yaml", "--slots", slots)
    assert windlass(*call) == (2, "", f"windlass: {message}\n")


@pytest.mark.parametrize("slots", ["1e30", "1" + "0" * 30])
def test_too_many_slots_of_measured_sites_are_refused(windlass, tmp_path, slots):
    (tmp_path / "wan.csv").write_text(WAN)
    measured = f"{{throughput: wan.csv, regions: ['aws:a', 'aws:b'], slots: [{slots}]}}"
    (tmp_path / "s.yaml").write_text(
        f"world: fleet\ncluster: {{measured: {measured}}}\n"
        "workload: {fixed: {jobs: 5}}\npolicies: {order: swag}\n"
    )
    status, out, err = windlass("run", "s.yaml")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "slots" in err or "s.yaml, line 2: is not YAML: is a number of 100 bits" in err


def test_a_condition_may_list_any_number_of_values():
    names = ", ".join(f"'u{number}'" for number in range(50_000))
    assert matching("log", TABLE, f"user IN ({names}, 'ann')")["user"].to_list() == ["ann"]
    text = "x OR " * 5000
    assert len(matching("log", TABLE, f"user <> '{text}'")) == 2
    some = " OR ".join(f"procs = {number}" for number in range(2, 300))
    assert matching("log", TABLE, some)["user"].to_list() == ["bob"]


@pytest.mark.parametrize(
    ("where", "problem"),
    [
        ("(" * 5000 + "procs", "expected an SQL condition: a parenthesis is not closed"),
        ("procs" + "+1" * 5000, "has 5,000 operators, expected at most 1,000 in one term"),
    ],
)
def test_a_condition_that_nests_too_much_is_refused(where, problem):
    with pytest.raises(InputError) as caught:
        matching("log", TABLE, where)
    message = str(caught.value)
    assert problem in message
    assert len(message) < 300


def test_an_error_shows_only_the_beginning_of_a_condition():
    with pytest.raises(InputError) as caught:
        matching("log", TABLE, "other = '" + "x" * 5000 + "'")
    assert len(str(caught.value)) < 500


def test_more_steps_than_a_recording_has_are_all_of_them():
    options = EvaluationOptions("cpu_ready", "p95", (0.05,), within=10**400, apart=10**30)
    assert (_at_most(options, 450).within, _at_most(options, 450).apart) == (450, 450)
    assert _at_most(EvaluationOptions("cpu_ready", "p95", (0.05,), within=7), 450).within == 7


class OfSite:
    """A policy of a site with something else than a compiled function."""

    name = "mine"

    def __init__(self, select):
        self.select, self.reasons = select, ("a",)


@pytest.mark.parametrize("select", [5, len])
def test_a_select_that_is_not_compiled_is_refused(select):
    for find in (as_compiled, select_of):
        with pytest.raises(
            InputError, match=r"^policy mine: select is .*, expected a compiled function: select = Kernel"
        ):
            find(OfSite(select))
    with pytest.raises(InputError, match=r"^a compiled function is .*, expected a Kernel$"):
        prepare([select], quiet=True)


@pytest.mark.parametrize("select", ["5", "staticmethod(lambda view, chosen, why: 0)"])
def test_a_policy_file_with_such_a_select_is_refused(windlass, tmp_path, select):
    (tmp_path / "mine.py").write_text(
        "from windlass.order.site.compiled import CompiledPolicy\n\n\nclass Mine(CompiledPolicy):\n"
        f'    """Mine."""\n\n    name = "mine"\n    select = {select}\n    reasons = ("a",)\n'
    )
    (tmp_path / "j.csv").write_text("submit,run,procs\n0,1,1\n")
    status, out, err = windlass("run", "j.csv", "--policies", "./mine.py")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "policy mine: select is " in err
