"""Sizes of the arrays that compiled code writes."""

import inspect
import itertools

import numpy as np
import pytest

from windlass.model import JobTable, Owners
from windlass.order.site.policies.fcfs import Fcfs
from windlass.sim.cores import make_pieces
from windlass.sim.events.tree import make_tree, next_time, with_leaves
from windlass.sim.handle import Handle
from windlass.sim.ledger import Ledger
from windlass.sim.outages import Outages
from windlass.sim.site.part import SitePart
from windlass.sim.site.setup import with_log, with_slots
from windlass.sim.site.state import NO_SLOT, SiteClock, SiteCounts


@pytest.mark.parametrize("parts", [0, 1, 3])
def test_a_ledger_has_entries_for_rows_sites_and_parts(parts):
    sites = [[5], [2, 0, 3], [1] * 64, [1, 0] * 40]
    nodes, rows = Ledger(sites, parts).nodes, 1 + 3 + 64 + 80
    alike = ("whole", "capacity", "idle", "site", "vacate", "watched", "changed", "to_settle", "marked")
    assert {name: getattr(nodes, name).shape for name in alike} == dict.fromkeys(alike, (rows,))
    assert nodes.held.shape == (rows, parts)
    assert [len(each) for each in (nodes.total, nodes.owed, nodes.lowest)] == [4, 4, 4]
    assert nodes.first.tolist() == [0, 1, 4, 68, 148]
    # Each site begins with a word of its own, of 64 rows.
    assert nodes.word.tolist() == [0, 1, 2, 3, 5]
    assert nodes.lowest.tolist() == [0, 1, 2, 3]
    assert nodes.some.tolist() == [
        1,
        5,
        2**64 - 1,
        sum(4**at for at in range(32)),
        sum(4**at for at in range(8)),
    ]
    assert nodes.total.tolist() == [5, 5, 64, 40]
    assert nodes.site.tolist() == [0] + [1] * 3 + [2] * 64 + [3] * 80
    assert (
        nodes.whole.tolist()
        == nodes.capacity.tolist()
        == nodes.idle.tolist()
        == list(itertools.chain(*sites))
    )
    for name in ("held", "vacate", "watched", "owed", "changed", "to_settle", "marked"):
        assert not getattr(nodes, name).any()
    assert nodes.counts.tolist() == [(0, 0, 0, 0)]
    assert not np.shares_memory(nodes.whole, nodes.capacity)
    assert not np.shares_memory(nodes.idle, nodes.capacity)


@pytest.mark.parametrize(("holders", "further"), [(3, 4), (2, 1), (5, 0)])
def test_all_pieces_are_initially_free(holders, further):
    pieces = make_pieces(holders, further)
    assert [len(column) for column in pieces] == [holders] * 3 + [further] * 3 + [1]
    stock, at = [], int(pieces.spare[0])
    while at >= 0:
        stock.append(at)
        at = int(pieces.after[at])
    assert stock == list(range(further))
    assert pieces.last_row.tolist() == pieces.chain.tolist() == [-1] * holders


@pytest.mark.parametrize("workers", [1, 2, 3, 4, 5, 8, 9])
def test_a_tree_has_a_leaf_per_worker_and_keeps_times_when_it_grows(workers):
    tree = make_tree(workers)
    leaves = len(tree.key) // 2
    assert leaves >= workers
    assert leaves & (leaves - 1) == 0
    assert len(tree.key) == len(tree.winner) == 2 * leaves
    assert np.isinf(tree.key.view(np.float64)).all()
    assert tree.winner[leaves:].tolist() == list(range(leaves))
    assert next_time(tree) == np.inf
    tree.key[1:2].view(np.float64)[0] = 3.5
    assert next_time(tree) == 3.5
    more = with_leaves(make_tree(workers), 2 * workers)
    assert len(more.key) // 2 >= 2 * workers


def site(jobs=5, cores=(4,), **more):
    table = JobTable.of(submit=[3.0] * jobs, run=[7.0] * jobs, procs=[1] * jobs, request=[5.0] * jobs)
    part = SitePart(table, Fcfs(), Ledger([[9], list(cores)], parts=3), **{"site": 1, "number": 2, **more})
    return part._run


@pytest.mark.parametrize("rated", [True, False])
@pytest.mark.parametrize("cores", [(4,), (1, 2)])
def test_a_site_has_entries_for_jobs_and_slots_for_running_ones(rated, cores):
    run = site(rated=rated, cores=cores)
    state, jobs, slots = run.site, 5, min(sum(cores), 5)
    per_job = [
        "submit", "held", "work", "request", "note", "expected_end", "start", "end", "why", "queue", "slot", "chosen",
        "reason", "procs",
    ]  # fmt: skip
    assert {len(getattr(state, name)) for name in per_job} == {jobs}
    changing = ["rate", "since", "left", "pace", "allowance", "stop", "host", "guest"]
    assert {len(getattr(state, name)) for name in changing} == {jobs if rated else 0}
    assert {len(getattr(state, name)) for name in ("running", "row_of", "spare")} == {slots}
    assert state.spare.tolist() == list(range(slots))
    assert (state.slot == NO_SLOT).all()
    assert len(run.tree.key) // 2 >= slots
    assert len(run.pieces.last_row) == slots
    # A pooled site has one piece for each job; at others a job may have as many as the site has cores.
    assert len(run.pieces.row) == (0 if len(cores) == 1 else sum(cores))
    assert (state.owner.shape, len(state.used), len(state.using)) == ((3, jobs), 1, 1)
    assert (state.owner == -1).all()
    assert np.isnan(np.concatenate((state.note, state.start, state.end))).all()
    counts, clock = SiteCounts.of(state.counts), SiteClock.of(state.clock)
    assert (counts.site, counts.part, counts.whole) == (1, 2, sum(cores))
    assert (counts.idle_before, counts.owed_before) == (sum(cores), 0)
    assert (counts.rated, counts.records, counts.in_python) == (rated, 0, 0)
    assert (clock.now, clock.next_instant) == (-np.inf, 3.0)


@pytest.mark.parametrize("kill", [True, False])
def test_jobs_hold_cores_until_their_request_only_with_kill(kill):
    state = site(kill=kill).site
    assert (state.held.tolist(), state.work.tolist()) == ([5.0 if kill else 7.0] * 5, [7.0] * 5)
    assert state.limit.tolist() == ([5.0] * 5 if kill else [])
    assert site(kill=kill, rated=True).site.limit.tolist() == [5.0 if kill else np.inf] * 5


def test_owners_of_jobs_have_an_entry_each():
    owners = Owners.of(5, user=[0, 1, 0, 2, 1])
    state = site(owners=owners).site
    assert state.owner[0].tolist() == owners.user.tolist()
    assert len(state.used) == len(state.using) == owners.entries


def test_growing_slots_keeps_used_ones_and_adds_each_new_one_once():
    run = site()
    run.site.running[:], run.site.row_of[:], run.site.spare[:] = [4, 3, 2, 1], [1, 2, 3, 4], [2, 0, 1, 3]
    run.pieces.last_row[:], run.pieces.last_cores[:] = [5, 6, 7, 8], [1, 2, 1, 2]
    more = with_slots(run)
    assert more.site.running[:4].tolist() == [4, 3, 2, 1]
    assert more.site.row_of[:4].tolist() == [1, 2, 3, 4]
    assert more.site.spare.tolist() == [2, 0, 1, 3, 4, 5, 6, 7]
    assert (len(more.site.running), len(more.site.row_of)) == (8, 8)
    assert more.pieces.last_row.tolist() == [5, 6, 7, 8] + [-1] * 4
    assert (more.pieces.last_cores[:4].tolist(), len(more.pieces.last_cores)) == ([1, 2, 1, 2], 8)
    assert len(more.pieces.chain) == 8
    assert len(more.tree.key) // 2 >= 8


@pytest.mark.parametrize("record", [True, False])
def test_growing_logs_keeps_their_entries(record):
    run = site(record=record)
    SiteCounts.of(run.site.counts).wanted = 3
    run = with_log(run)
    run.site.lost[:], run.site.lost_times[:], run.site.pieces_log[:] = 7, 8.0, 9.0
    more = with_log(run)
    before = run.site
    assert len(more.site.lost) == len(more.site.lost_times) > len(before.lost) > 0
    assert (more.site.lost[: len(before.lost)] == 7).all()
    assert (more.site.lost_times[: len(before.lost)] == 8.0).all()
    assert more.site.lost_times.shape[1] == 2
    assert more.site.pieces_log.shape[1] == 4
    assert len(more.site.pieces_log) >= (len(before.pieces_log) + 3 if record else 0)
    assert (len(more.site.pieces_log) > 0) == record
    assert (more.site.pieces_log[: len(before.pieces_log)] == 9.0).all()


def test_a_handle_is_aligned_within_its_memory():
    part = SitePart(JobTable.of(submit=[0], run=[7], procs=[2]), Fcfs(), Ledger([[2]], parts=1))
    handle = part._handle
    assert isinstance(handle, Handle)
    begin = handle._memory.ctypes.data
    assert handle.address % 64 == 0
    assert 0 <= handle.address - begin < 64


def test_the_defaults_of_a_site_part_are_as_documented():
    defaults = {
        name: each.default
        for name, each in inspect.signature(SitePart).parameters.items()
        if each.default is not each.empty
    }
    assert defaults == dict(
        site=0, number=None, kill=True, record=False, rated=False, owners=None, pools=None, progress=None
    )
    assert inspect.signature(Outages).parameters["site"].default == 0
    assert inspect.signature(Ledger.set_capacity).parameters["vacate"].default is False
