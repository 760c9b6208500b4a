"""Help pages and the catalogue as golden files, shell completion, and errors without repeated prefixes.

``WINDLASS_GOLDEN=1`` rewrites the files.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from windlass.cli import completion
from windlass.model import InputError
from windlass.order.site import POLICIES

GOLDEN = Path(__file__).parent / "golden"
PAGES = {
    "help.txt": ("--help",),
    "run-help.txt": ("run", "--help"),
    "list.txt": ("list",),
}
#: The version of Typer that wrote the golden help pages; other versions use another layout.
TYPER = "0.29"
#: 80 columns, without colour, in any terminal.
ENVIRONMENT = {"COLUMNS": "80", "TERM": "dumb", "NO_COLOR": "1", "TERMINAL_WIDTH": "80", "LANG": "C.UTF-8"}


def page(*words: str) -> str:
    """Standard output of a command, without spaces at the ends of lines."""
    kept = {
        name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "GITHUB_ACTIONS")
    }
    done = subprocess.run(
        [sys.executable, "-m", "windlass", *words], capture_output=True, text=True, env=kept | ENVIRONMENT
    )
    assert (done.returncode, done.stderr) == (0, "")
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())


@pytest.mark.matrix(0)
@pytest.mark.parametrize("name", PAGES)
def test_a_page_equals_its_golden_file(name):
    if name != "list.txt" and not version("typer").startswith(f"{TYPER}."):
        pytest.skip(f"typer is {version('typer')}, and the golden page is for {TYPER}")
    found = page(*PAGES[name]).replace("python -m windlass", "windlass")
    if os.environ.get("WINDLASS_GOLDEN"):
        (GOLDEN / name).write_text(found, encoding="utf-8")
    expected = (GOLDEN / name).read_text(encoding="utf-8")
    assert found == expected, (
        f"read the page, then write it with WINDLASS_GOLDEN=1 pytest {Path(__file__).name}"
    )


def test_pages_have_no_markup_and_fit_the_terminal():
    for name in PAGES:
        text = (GOLDEN / name).read_text(encoding="utf-8")
        assert "``" not in text
        assert not re.search(r":\w+:`", text)
        assert max(map(len, text.splitlines())) <= 80


def complete(line: str, shell: str = "bash") -> list[str]:
    """Return a shell's completions for the last word of a line."""
    words = line.split(" ")
    done = subprocess.run(
        [sys.executable, "-c", "import sys; sys.argv[0] = 'windlass'; from windlass.cli import main; main()"],
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "_WINDLASS_COMPLETE": f"complete_{shell}",
            "COMP_WORDS": line,
            "COMP_CWORD": str(len(words) - 1),
        },
    )
    return done.stdout.split()


@pytest.mark.matrix(0.01)
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("windlass run --policies fcfs,conserv", ["fcfs,conservative"]),
        ("windlass repro", ["reproduce"]),
        *(
            pytest.param(line, expected, marks=pytest.mark.slow)
            for line, expected in (
                ("windlass run --by p99_w", ["p99_wait"]),
                ("windlass run --format sacct-", ["sacct-json"]),
                ("windlass run --engine r", ["ray"]),
                ("windlass list --decision order.s", ["order.site"]),
                ("windlass reproduce ros", ["rosella"]),
                ("windlass plan solve --policy cascade,vid", ["cascade,videostorm"]),
                ("windlass agent run --policy pron", ["pronto"]),
            )
        ),
    ],
)
def test_a_shell_completes_values(line, expected):
    assert complete(line) == expected


def test_completion_keeps_the_typed_prefix():
    assert completion.policies("order=eas") == ["order=easy"]
    assert completion.policies("order=fcfs,eas") == ["order=fcfs,easy"]
    assert set(completion.policies("")) >= set(POLICIES.names())
    assert (
        completion.metrics("no_such") == completion.papers("no_such") == completion.formats("no_such") == []
    )
    assert completion.forecaster_names("ets,nli") == ["ets,nlinear"]
    assert completion.scale_policies("thri") == ["thrifty"]
    assert completion.paper_engines("s") == ["slurm"]


@pytest.mark.parametrize(
    "words", [("run", "--policies", "queue(priority=sjff)"), ("run", "--policies", "esy")]
)
def test_the_field_name_is_printed_once_in_an_error(windlass, words):
    status, out, err = windlass(*words)
    assert (status, out) == (2, "")
    assert err.startswith("windlass: policies.order: ")
    assert err.count("policies.order: ") == 1
    assert "; did you mean " in err


def test_errors_in_a_nested_policy_name_its_parameter():
    with pytest.raises(InputError, match=r"^policies\.order: queue: priority: unknown policy 'sjff'"):
        POLICIES.make("queue", _rng(), priority="sjff")
    with pytest.raises(InputError, match=r"^policies\.order: queue: backfill"):
        POLICIES.make("queue", _rng(), backfill="all")


def _rng():
    import numpy as np

    return np.random.default_rng(1)
