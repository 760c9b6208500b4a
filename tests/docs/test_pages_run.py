"""Every command and snippet of the pages runs from a clean copy of the repository, or gives a reason."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter

import pytest
import yaml

from tests.docs.pages import PAGES, READ, ROOT, RUN, Block, blocks_of, prose_of
from windlass.cli.app import commands
from windlass.experiment.scenario import make_scenario

#: How many blocks of a page are not run, each with its reason in the page. Increase a count only deliberately.
NOT_RUN = {
    "README.md": 1,
    "docs/add-an-engine.md": 1,
    "docs/admission-haproxy.md": 1,
    "docs/agent.md": 3,
    "docs/control-plane.md": 3,
    "docs/control-plane-actions.md": 2,
    "docs/kubernetes.md": 1,
    "docs/kubernetes-jobs.md": 1,
    "docs/deploy-kubernetes.md": 3,
    "docs/logs.md": 2,
    "docs/htcondor.md": 1,
    "docs/pbs.md": 3,
    "docs/profile.md": 2,
    "docs/serve.md": 1,
    "docs/share-on-slurm.md": 1,
    "docs/slurm.md": 3,
    "docs/slurm-service.md": 2,
    "docs/streams.md": 1,
    "docs/tutorial.md": 2,
    "docs/when.md": 1,
}
#: Pages that take half a minute of processor time or more are left to the nightly tests, but for those with which a
#: reader begins.
LONG = (
    "docs/calibrate.md",
    "docs/compare-policies.md",
    "docs/control-plane-journal.md",
    "docs/control-plane-mcp.md",
    "docs/evaluate-admission.md",
    "docs/one-cluster.md",
    "docs/policy-examples.md",
)
#: Runs a page: commands in a shell, snippets one after the other with the names of those before.
DRIVER = """
import json, pathlib, subprocess, sys
names = {"__name__": "__main__"}
for block in json.loads(pathlib.Path(sys.argv[1]).read_text()):
    print("+", block["page"], "line", block["line"], flush=True)
    if block["file"]:
        pathlib.Path(block["file"]).write_text(block["text"])
    elif block["language"] == "python":
        exec(compile("\\n" * (block["line"] - 1) + block["text"], block["page"], "exec"), names)
    else:
        command = block["run_as"] or block["text"]
        subprocess.run(["bash", "-euo", "pipefail", "-c", command], check=True)
"""


def runnable(page: str) -> list[Block]:
    return [block for block in blocks_of(page) if block.file or (block.language in RUN and not block.not_run)]


@pytest.mark.parametrize("page", PAGES)
def test_blocks_declare_their_kind(page):
    for block in blocks_of(page):
        where = f"{page}, line {block.line}"
        assert block.language in (*RUN, *READ), (
            f"{where}: {block.language!r}, expected one of {RUN} and {READ}"
        )
        assert not block.not_run or len(block.not_run.split()) >= 4, f"{where}: gives no reason"
        marks = sum(map(bool, (block.not_run, block.run_as, block.file)))
        assert marks <= 1, f"{where}: has several marks"
        assert block.file or block.language in RUN or not marks, f"{where}: is not run anyway"


def test_the_number_of_blocks_not_run_is_as_listed():
    counts = Counter(block.page for page in PAGES for block in blocks_of(page) if block.not_run)
    assert dict(counts) == NOT_RUN


@pytest.fixture
def clone(tmp_path):
    """A clean clone with `windlass` in a virtual environment."""
    listed = [
        "git",
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
        "README.md",
        "docs",
        "examples",
        "src",
        "reproductions",
    ]
    found = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=False)
    if found.returncode != 0:
        pytest.skip("not a git repository, so the files of a clone are unknown")
    folder = tmp_path / "clone"
    for name in filter(None, found.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    bin_ = folder / ".venv" / "bin"
    bin_.mkdir(parents=True)
    for name, what in (("windlass", f"{sys.executable} -m windlass"), ("python", sys.executable)):
        (bin_ / name).write_text(f'#!/bin/sh\nexec {what} "$@"\n')
        (bin_ / name).chmod(0o755)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.nightly] if page in LONG else [])
        for page in PAGES
        if runnable(page)
    ],
)
def test_a_page_runs_from_a_clean_clone(page, clone, tmp_path):
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps([vars(block) for block in runnable(page)]))
    bin_ = str(clone / ".venv" / "bin")
    environment = os.environ | {
        "PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join([str(clone / "src"), str(clone / "reproductions" / "src")]),
    }
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, str(plan)],
        cwd=clone,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=3600,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]


def inline_commands(page: str) -> list[str]:
    """Return the windlass commands within sentences and tables."""
    found = re.findall(r"(?<!`)`(windlass [^`]+)`", prose_of(page))
    return [" ".join(command.replace("\\|", "|").split()) for command in found]


@pytest.mark.parametrize("page", [page for page in PAGES if inline_commands(page)])
def test_commands_in_sentences_exist_with_their_options(page):
    for command in inline_commands(page):
        each = commands()
        alone = command.partition(" | ")[0].replace("[", " ").replace("]", " ").replace("…", "")
        words = shlex.split(alone)[1:]
        while words and words[0] in getattr(each, "commands", {}):
            each = each.commands[words.pop(0)]
        able = {name for parameter in each.params for name in parameter.opts} | {"-h", "--help"}
        for word in words:
            if word.startswith("-") and len(word) > 1:
                assert word.partition("=")[0] in able, f"{page}: `{command}` has no option {word}"
            if word.startswith("examples/"):
                assert (ROOT / word).exists(), f"{page}: `{command}`: there is no {word}"


def test_inputs_that_pages_read_are_shipped():
    for page in PAGES:
        for block in runnable(page):
            for name in re.findall(r"examples/[\w./-]+\w", block.run_as or block.text):
                assert (ROOT / name).exists(), f"{page}, line {block.line}: there is no {name}"
            assert "../shared" not in (block.run_as or block.text), f"{page}, line {block.line}"


@pytest.mark.parametrize("page", PAGES)
def test_scenarios_in_pages_are_valid(page, tmp_path):
    (tmp_path / "mine.py").write_text((ROOT / "examples" / "narrowest.py").read_text(encoding="utf-8"))
    for block in blocks_of(page):
        tree = yaml.safe_load(block.text) if block.language == "yaml" else None
        if isinstance(tree, dict) and "policies" in tree and {"workload", "loads"} & tree.keys():
            assert make_scenario(tree, f"{page}, line {block.line}", tmp_path).variants
