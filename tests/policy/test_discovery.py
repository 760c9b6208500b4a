"""Classes are found in all files of a folder, also in those that are added while the process runs."""

from __future__ import annotations

import os

from windlass.policy.discovery import classes_in

POLICY = "class Found:\n    name = {name!r}\n\n    def decide(self, view):\n        pass\n"


def test_a_file_that_is_added_later_is_found(tmp_path, monkeypatch):
    package = tmp_path / "policies_of_a_test"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "one.py").write_text(POLICY.format(name="one"))
    monkeypatch.syspath_prepend(tmp_path)

    def names() -> list[str]:
        return [cls.name for cls in classes_in("policies_of_a_test", "decide")]

    assert names() == names() == ["one"]
    (package / "two.py").write_text(POLICY.format(name="two"))
    # The clock of a file system may not have advanced since.
    os.utime(package, ns=(1, 1))
    assert names() == ["one", "two"]
    (package / "_three.py").write_text(POLICY.format(name="three"))
    os.utime(package, ns=(2, 2))
    assert names() == ["one", "two"]
