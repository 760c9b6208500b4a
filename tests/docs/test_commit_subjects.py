"""Test the hook that checks the subjects of commits, and the subjects themselves."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
HOOK = ROOT / ".githooks" / "commit-msg"
#: Commits whose subjects are checked, at most.
COMMITS = 15


def check(message: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the hook on a message."""
    file = folder / "COMMIT_EDITMSG"
    file.write_text(message, encoding="utf-8")
    return subprocess.run([HOOK, file], capture_output=True, text=True, check=False)


@pytest.mark.matrix
@pytest.mark.parametrize(
    "message",
    [
        "slurm: release jobs in batches\n",
        "plan, agent: pass the state of the greedy as one tuple\n",
        "engines/ray: close the cluster\n\nA body explains why. It may have long lines.\n",
        "docs: name FCFS in the glossary\n",
        "order: CBF is conservative\n",
        "# A comment of Git\n\ndocs: add a page\n# Another comment\n",
        f"docs: {'a' * 66}\n",
        f"docs: {'ä' * 66}\n",
        "Merge branch 'main' of a fork whose name is much longer than seventy-two characters permit\n",
        'Revert "docs: add a page"\n',
        "fixup! docs: add a page\n",
    ],
)
def test_the_hook_accepts_valid_subjects(message, tmp_path):
    done = check(message, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("message", "fault"),
    [
        ("", "no area"),
        ("# Only a comment\n", "no area"),
        ("Add a page\n", "no area"),
        ("docs:add a page\n", "no area"),
        ("Docs: add a page\n", "no area"),
        ("docs: \n", "no summary"),
        ("docs: Add a page\n", "begins with 'Add'"),
        ("docs: added a page\n", "not an imperative"),
        ("docs: add a page.\n", "full stop"),
        ("docs: add a page\nwithout an empty line\n", "second line"),
        (f"docs: {'a' * 67}\n", "73 characters, expected at most 72"),
    ],
)
def test_the_hook_rejects_bad_subjects_and_names_the_fault(message, fault, tmp_path):
    done = check(message, tmp_path)
    assert done.returncode == 1
    assert fault in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_subjects_since_the_hook_follow_the_rule(tmp_path):
    """Earlier subjects are not checked, as a rewrite would change all commit hashes."""

    def git(*arguments: str) -> list[str]:
        done = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True, check=False)
        return done.stdout.splitlines() if done.returncode == 0 else []

    if not (ROOT / ".git").exists():
        pytest.skip("needs a git history; this is a copy without one")
    added = git("log", "--diff-filter=A", "--format=%H", "--", ".githooks/commit-msg")
    if not added:
        pytest.skip("needs the commit that added the hook; the clone is shallow")
    subjects = git("log", "--no-merges", f"-{COMMITS}", "--format=%s", f"{added[-1]}^!", f"{added[-1]}..HEAD")
    assert [subject for subject in subjects if check(subject, tmp_path).returncode] == []


def test_pre_commit_runs_the_same_hook():
    repos = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    hooks = {hook["id"]: hook for repo in repos for hook in repo["hooks"]}
    assert {"ruff-check", "ruff-format"} <= set(hooks)
    assert ROOT / hooks["commit-subject"]["entry"] == HOOK
    assert hooks["commit-subject"]["stages"] == ["commit-msg"]
