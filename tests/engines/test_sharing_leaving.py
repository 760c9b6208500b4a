"""Guests that are requeued for their hosts' memory or for the head of the queue."""

import pytest

from tests.engines.notes import Bench, pair, running, waiting
from windlass.engines.batch.system import Ended, Submitted
from windlass.share.allocation import Candidate
from windlass.share.usage import Reading
from windlass.share.view import Back


@pytest.mark.parametrize("restarts", [True, False])
def test_a_crowded_guest_is_requeued_only_if_it_allows_restarts(restarts):
    guest = Candidate(2, "blast", 2, 7e9, 40.0, restarts=restarts)
    bench = pair(guest)
    bench.at(36.0)
    assert bench.system.backs == []
    bench.system.memory = lambda job: 8e9
    used = bench.system.readings

    def more(jobs, now):
        return {job: Reading(now, each.cpu, 2e9, waited=0.0) for job, each in used(jobs, now).items()}

    bench.system.readings = more
    bench.at(41.0)
    why = "its host needs the memory that it was promised; 6 s of its work are lost"
    assert bench.system.backs == ([(41.0, 2, why)] if restarts else [])
    assert bench.backs == ([Back(2, why)] if restarts else [])


HEAD = Candidate(5, "montage", 4, 1e9, 60.0)
LATE = Candidate(3, "blast", 2, 1e9, 300.0, restarts=True)


def late(*more, processors=4, need=4, until=90.0):
    """Jobs 2 and 3 run alone with promised ends of 90 s and ``until``; the head waits."""
    head = Candidate(5, "montage", need, 1e9, 60.0)
    guest = Candidate(2, "blast", 2, 1e9, 300.0, restarts=True)
    bench = Bench(guest, LATE, head, *more, processors=processors, every=1000.0, promises={2: 90.0, 3: until})
    bench.at(0.0, running(guest), running(LATE), *map(running, more), waiting(head))
    bench.at(89.5)
    return bench


def test_late_guests_are_requeued_together_if_the_head_then_fits():
    bench = late()
    assert bench.system.backs == []
    assert bench.at(90.0) is None
    assert [(at, job) for at, job, _ in bench.system.backs] == [(90.0, 2), (90.0, 3)]
    assert [back.guest for back in bench.backs] == [2, 3]


@pytest.mark.parametrize(
    ("options", "gone"),
    [
        ({"until": 91.0}, []),
        ({"until": 91.0, "need": 2}, [2]),
        # With two more idle processors the head does not need theirs, or needs those of one.
        ({"processors": 6, "need": 2}, []),
        ({"processors": 6, "need": 5}, [2, 3]),
        ({"processors": 6, "need": 6}, [2, 3]),
        ({"processors": 6, "need": 7}, []),
        # Processors held beyond the site's capacity would not go to the head.
        ({"processors": 3, "need": 3}, [2, 3]),
        ({"processors": 3, "need": 4}, []),
    ],
)
def test_late_guests_are_requeued_only_if_that_starts_the_head(options, gone):
    bench = late(**options)
    bench.at(90.0)
    assert [job for _, job, _ in bench.system.backs] == gone


def test_processors_of_requeued_guests_count_for_the_head():
    # Job 2 is requeued at 90 s, and still runs for a while; job 3 is late at 91 s.
    bench = late(need=2, until=91.0)
    bench.at(90.0)
    assert [job for _, job, _ in bench.system.backs] == [2]
    bench.at(91.0)
    # The head has its two processors as soon as job 2 is gone.
    assert [job for _, job, _ in bench.system.backs] == [2]
    bench.at(91.5, Submitted(5, 0.0, 4, 60.0))
    # It requests four now: job 3 makes room.
    assert [job for _, job, _ in bench.system.backs] == [2, 3]


def test_a_late_guest_stays_while_its_host_does():
    bench = pair()
    bench.at(104.0, waiting(Candidate(5, "montage", 2, 0.0, 9.0), 104.0))
    bench.at(105.0)
    assert bench.system.backs == []
    bench.at(106.0, Ended(1, 106.0))
    # The head fits without it.
    assert bench.system.backs == []
