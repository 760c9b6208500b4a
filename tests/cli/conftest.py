"""The command, run in the tests' own process."""

import sys

import pytest

from windlass.cli import main


@pytest.fixture
def windlass(monkeypatch, capsys, tmp_path):
    """Run the command in this process, in an empty folder; its status, standard output and standard error."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["windlass", *arguments])
        with pytest.raises(SystemExit) as stop:
            main()
        said = capsys.readouterr()
        return stop.value.code or 0, said.out, said.err

    return call
