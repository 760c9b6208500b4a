"""Machines in the order in which they were first measured, and logs whichever way their lines end."""

import pytest

from windlass.io.traces.logs.record import NEVER_RAN
from windlass.io.traces.logs.tables import read_csv_log
from windlass.io.traces.volatility import read_volatility
from windlass.model import InputError


def test_machines_are_ordered_by_their_first_measurement(tmp_path):
    numbers = [(7 * at) % 40 for at in range(40)]
    first = [f"{number + 1},2023-09-01 00:00:{at:02},{number}" for at, number in enumerate(numbers)]
    last = [f"{number + 101},2023-09-01 01:00:00,{number}" for number in sorted(numbers)]
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(["value,starttime,VM_id", *last, *first]) + "\n")
    assert read_volatility(path, 2).tolist() == [[number + 1.0, number + 101.0] for number in numbers]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_tables_with_any_line_end_are_read(tmp_path, end):
    path, found = tmp_path / "log.csv", []

    def job(row):
        found.append((row.text("a"), row.text("b")))
        return NEVER_RAN

    path.write_bytes(end.join(["a,b", "1,x", "", '2,"y, z"', ""]).encode())
    with pytest.raises(InputError, match="never ran"):
        read_csv_log(path, ("a", "b"), job, False)
    assert found == [("1", "x"), ("2", "y, z")]
