"""`windlass act`: each action with its dry run and undo, the list of them, and refusals with status 2."""

from __future__ import annotations

import pytest

from tests.control.test_actions import Bench
from windlass.control.actions.channel import ActionChannel


@pytest.fixture
def bench(tmp_path):
    found = Bench(tmp_path)
    with ActionChannel(found.file, found.service.answer):
        yield found
    found.close()


def test_actions_are_shown_carried_out_listed_and_undone(bench, windlass):
    journal = str(bench.file)
    for words, commands in (
        (("hold", journal, "slurm", "a", "--reason", "disk", "--dry-run"), []),
        (("hold", journal, "slurm", "a", "--reason", "disk"), [("hold", "a")]),
        (("undo", journal, "1", "--reason", "larger"), [("hold", "a"), ("unhold", "a")]),
        (("release", journal, "slurm", "a", "--reason", "first"), None),
        (("pause", journal, "slurm", "--reason", "nodes"), None),
        (("resume", journal, "slurm", "--reason", "done"), None),
    ):
        status, out, err = windlass("act", *words)
        assert (status, err) == (0, "")
        assert ("Nothing was changed." in out) == ("--dry-run" in words)
        if commands is not None:
            assert bench.engines[0].jobs.commands == commands
    status, out, _ = windlass("act", "list", journal)
    lines = out.splitlines()
    assert [line.split()[0] for line in lines] == ["5", "4", "3", "2", "1"]
    assert "resume slurm, by user" in lines[0]
    assert lines[4].endswith("hold job a of slurm, by " + bench.rows()[0].by + ": disk; held, undone")
    assert windlass("act", "list", journal, "--limit", "1")[1].splitlines() == lines[:1]


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("hold", "slurm", "b"), "no such job"),
        (("pause", "ray"), "no engine 'ray'"),
        (("undo", "7"), "no action 7"),
        (("resume", "slurm"), "engine slurm runs already"),
    ],
)
def test_a_refused_action_is_one_line_with_status_2(bench, windlass, words, why):
    bench.engines[0].started.acquire(timeout=20.0)
    status, out, err = windlass("act", words[0], str(bench.file), *words[1:], "--reason", "x")
    assert (status, out) == (2, "")
    assert why in err
    assert err.count("\n") == 1


def test_without_a_control_plane_and_for_tokens_without_act_an_error_says_what_to_do(tmp_path, windlass):
    status, _, err = windlass("act", "pause", str(tmp_path / "a.db"), "slurm", "--reason", "x")
    assert (status, "windlass serve --act" in err) == (2, True)
    status, _, err = windlass("serve", "cluster.yaml", "--act-tokens", "tokens")
    assert (status, "--act" in err) == (2, True)
