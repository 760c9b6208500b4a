"""Errors about objects that cannot be read."""

from windlass.engines.batch.unreadable import UnreadableObjects


def test_an_error_is_reported_once_while_it_lasts_and_again_when_it_returns():
    lines = []
    found = UnreadableObjects(lines.append)
    for errors in (["a", "b"], ["b", "b"], ["a"], []):
        for error in errors:
            found.report(error, "left alone")
        found.end_poll()
    assert lines == ["a; left alone", "b; left alone", "a; left alone"]


def test_only_the_errors_of_the_last_poll_are_kept():
    found = UnreadableObjects(lambda line: None)
    for poll in range(100):
        found.report(f"job {poll}", "left alone")
        found.end_poll()
    assert found._before | found._now == {"job 99"}
