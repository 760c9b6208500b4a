"""Harmful input is rejected in one line, with the limit and how to raise it."""

import gzip
from itertools import pairwise
from pathlib import Path

import pytest

from windlass.experiment.scenario import make_scenario
from windlass.io import parse_yaml, read_yaml
from windlass.model import InputError
from windlass.model.limits import Limit

LETTERS = "abcdefghijklmnopqrstuvw"
LAUGHS = "a: &a [x, x]\n" + "".join(f"{b}: &{b} [*{a}, *{a}]\n" for a, b in pairwise(LETTERS))
BATCH = "workload: {lublin: {jobs: 5}}\npolicies: {order: easy}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a:\n\tb: 1", "cannot start any token; indent with spaces in place of tabs"),
        ("a: 1\nb: 2\na: 3", "line 3: is not YAML: the key 'a' appears twice"),
        ("{1: a, 0x1: b}", "line 1: is not YAML: the key 1 appears twice"),
        ("a: {b: {c: 1, c: 2}}", "the key 'c' appears twice"),
        ("a: &a [*a]", "line 1: is not YAML: a value contains itself"),
        ("a: &a {b: {c: *a}}", "a value contains itself"),
        (LAUGHS, "expected at most 250,000; WINDLASS_MAX_YAML_VALUES="),
        ("a: " + "[" * 200, "nested 51 levels deep, expected at most 50"),
        ("a: " + "[" * 100_000, "nested 51 levels deep, expected at most 50"),
        (
            "\n".join(["a0: &a0 [1]", *(f"a{n + 1}: &a{n + 1} [*a{n}]" for n in range(60))]),
            "nested 51 levels",
        ),
        ("a: 2024-13-45", "line 1: is not YAML: '2024-13-45' is not a valid date or number"),
        ("a: " + "9" * 5000, "is not a valid date or number"),
        ("a: 0x" + "f" * 9000, "is a number of 36000 bits, expected at most 64"),
        ("a: 010", "010 means 8 in YAML, expected a decimal number or a text in quotes"),
        ("a: 1:30:00", "1:30:00 means 5400 in YAML, expected a decimal number"),
        ("a: \x00", "the character '\\x00' is not allowed"),
        ("a: \x1b[31m", "the character '\\x1b' is not allowed"),
        ("a: 1\n---\nb: 2", "expected a single document"),
        ("a: !!python/object/apply:os.system [ls]", "could not determine a constructor"),
        ("? [a, b]\n: 1", "unhashable"),
    ],
)
def test_ambiguous_yaml_is_rejected(text, message):
    with pytest.raises(InputError) as caught:
        parse_yaml(text, "s.yaml")
    assert str(caught.value).startswith("s.yaml, line ")
    assert message in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_harmless_aliases_and_merge_keys_are_read():
    text = "base: &base {a: 1, b: 2}\nmore: {<<: *base, b: 3}\nagain: [*base, *base]"
    found = parse_yaml(text, "s.yaml")
    assert found["more"] == {"a": 1, "b": 3}
    assert found["again"] == [{"a": 1, "b": 2}] * 2


def test_a_path_that_is_not_a_readable_file_is_rejected(tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "large").write_bytes(b"a: 1\n" + b"#" * 2**24)
    for path, message in (
        (tmp_path / "loop", "Too many levels of symbolic links"),
        (tmp_path, "is a directory"),
        (Path("/dev/zero"), "is not a regular file"),
        (tmp_path / ("n" * 300), "File name too long"),
        (tmp_path / "nul\0", "null (byte|character)"),
        (tmp_path / "large", "expected at most 16,777,216; WINDLASS_MAX_YAML_BYTES="),
    ):
        with pytest.raises(InputError, match=message):
            read_yaml(path)


def batch(**changes):
    return {"workload": {"lublin": {"jobs": 5}}, "policies": {"order": "easy"}} | changes


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (
            batch(workload={"lublin": {"jobs": True}}),
            "workload.lublin.jobs: expected a number, not true or false",
        ),
        (batch(workload={"lublin": {"load": False}}), "workload.lublin.load: expected a number"),
        (batch(workload={"lublin": {"jobs": [5, True]}}), "workload.lublin.jobs: expected a number"),
        (batch(cluster={"processors": True}), "cluster.processors: expected a number"),
        (batch(policies={"order": True}), "policies.order"),
        (batch(cluster={"processors": 10**30}), "cluster.processors: expected a number of at most 2**53"),
        (batch(seeds=[True]), "seeds: True is not a whole number"),
        (batch(seeds=2**63), "is too large, expected one below"),
        (batch(seeds=10**5000), "seeds: a number of 16610 bits is too large"),
        (batch(name=["a"]), "name: ['a'] is not a name"),
        (batch(name=None), "name: None is not a name"),
        (batch(workload={"trace": "a\0b"}), "'a\\x00b': is not a file path"),
        (
            batch(cluster={"processors": list(range(1, 1_000_001))}),
            "1,000,000 variants, expected at most 10,000",
        ),
        (batch(seeds=list(range(200_000))), "200,000 runs (variants with seeds), expected at most 100,000"),
    ],
)
def test_an_invalid_scenario_is_a_one_line_error(tree, message):
    with pytest.raises(InputError) as caught:
        make_scenario(tree, "s")
    assert message in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("world", "cluster"),
    [
        ("dispatch", {"groups": [{"workers": 10**9, "speed": 1}]}),
        ("admission", {"nodes": 10**9}),
        ("colocated", {"nodes": 10**9, "cores": 4}),
        ("colocated", {"nodes": 10**9, "cores": 4, "outages": []}),
        ("video", {"cameras": 10**9}),
    ],
)
def test_too_many_workers_are_rejected(world, cluster):
    tree = {
        "world": world,
        "cluster": cluster,
        "policies": {"dispatch": "random", "order": "easy", "plan": "greedy"},
    }
    with pytest.raises(
        InputError, match=r"expected at most 1,000,000; WINDLASS_MAX_WORKERS=1000000000 raises the limit"
    ):
        make_scenario(tree | {"workload": {"batch": {"lublin": {}}}} if world == "colocated" else tree, "s")


def test_an_environment_variable_raises_a_limit(monkeypatch):
    ants = Limit("WINDLASS_MAX_ANTS", 3, "ants")
    monkeypatch.setenv("WINDLASS_MAX_ANTS", "4")
    assert ants.check(4) == 4
    with pytest.raises(
        InputError, match=r"^5 ants, expected at most 4; WINDLASS_MAX_ANTS=5 raises the limit$"
    ):
        ants.check(5)
    for wrong in ("0", "-1", "many", "9" * 19):
        monkeypatch.setenv("WINDLASS_MAX_ANTS", wrong)
        with pytest.raises(InputError, match="WINDLASS_MAX_ANTS is "):
            ants.most()


def bomb(path: Path, filling: bytes, megabytes: int) -> None:
    with gzip.open(path, "wb", compresslevel=9) as file:
        for _ in range(megabytes):
            file.write(filling * (2**20 // len(filling)))


def test_a_decompression_bomb_is_rejected(windlass, tmp_path, monkeypatch):
    monkeypatch.setenv("WINDLASS_MAX_TEXT", str(2**23))
    bomb(tmp_path / "bomb.swf.gz", b"; a line\n", 16)
    status, out, err = windlass("trace", "bomb.swf.gz")
    assert (status, out) == (2, "")
    assert "bomb.swf.gz: over 12,5" in err
    assert "bytes of text, expected at most 8,388,608; WINDLASS_MAX_TEXT raises the limit" in err
    bomb(tmp_path / "zeros.swf.gz", b"\0", 16)
    assert "line 1: a NUL byte" in windlass("trace", "zeros.swf.gz")[2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--nodes", "1"], "--nodes: has no effect here, it is for --engine"),
        (["--address", "auto"], "--address: has no effect here"),
        (["--real-links"], "--real-links: has no effect here"),
        (["--json", "--wide"], "--wide: has no effect here, it is for tables"),
        (["--dry-run", "--out", "o"], "--out: has no effect here"),
        (
            ["--jobs", "1000000000"],
            "--jobs: 1,000,000,000 processes, expected at most 1,024; WINDLASS_MAX_PROCESSES=",
        ),
        (["--seeds", "1-999999999999"], "--seeds: 1-999999999999: 999,999,999,999 runs"),
        (["--seeds", "1-" + "9" * 5000], "is too large"),
        (["--seeds", "5-1"], "is an empty range"),
    ],
)
def test_an_invalid_option_is_a_one_line_error(windlass, options, message):
    status, out, err = windlass("run", "--policies", "easy", *options)
    assert (status, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) == 1


def test_no_code_imports_no_policy_file(windlass, tmp_path):
    (tmp_path / "mine.py").write_text("open('imported', 'w').close()\n")
    (tmp_path / "s.yaml").write_text(BATCH.replace("easy", "[easy, ./mine.py:Mine]"))
    for arguments in (["s.yaml"], ["--policies", "./mine.py"]):
        status, out, err = windlass("run", *arguments, "--no-code")
        assert (status, out) == (2, "")
        assert "mine.py, expected a scenario without policy files" in err
        assert not (tmp_path / "imported").exists()
    windlass("run", "s.yaml")
    assert (tmp_path / "imported").exists()


def test_names_are_printed_without_control_characters_and_markup(windlass, tmp_path):
    name = "[red]a:smile:[bold]\x1b[2J"
    log = tmp_path / f"{name}.swf"
    log.write_text("; MaxProcs: 4\n1 0 0 10 1 -1 -1 1 20 -1 1 1 1 -1 -1 -1 -1 -1\n")
    status, out, err = windlass("trace", log.name)
    assert status == 0
    assert "\x1b" not in out + err
    assert "[red]a:smile:[bold]\\x1b[2J" in out
    status, out, err = windlass("trace", log.name.replace("red", "blue"))
    assert (status, "\x1b" in err) == (2, False)


def test_too_many_variants_are_rejected_before_they_are_created():
    with pytest.raises(InputError, match=r"3\.3e\+150 variants"):
        make_scenario(batch(cluster={f"f{n}": [1, 2] for n in range(500)}), "s")


def test_fields_unused_with_a_request_log_are_rejected(tmp_path):
    (tmp_path / "r.csv").write_text("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6,374,44\n")
    cluster = {"groups": [{"workers": 2, "speed": 1.0}]}
    tree = {"world": "dispatch", "cluster": cluster, "policies": {"dispatch": "pot"}}
    message = make_scenario(tree | {"workload": {"llm": "r.csv"}}, "s", tmp_path).as_run
    assert make_scenario(parse_yaml(message, "as run")).variants
    with pytest.raises(InputError, match="workload: arrivals: not used with 'llm'"):
        make_scenario(tree | {"workload": {"llm": "r.csv", "arrivals": "bursty"}}, "s", tmp_path)
