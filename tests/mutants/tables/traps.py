"""Changes that bring each trap of a shared cluster back.

A trap is a fault that appears only where several parts share the rows of one ledger, or several sites a run.
There are fourteen, which the comments number. Each change is the smallest that returns its fault.
Its tests were written for the trap.
"""

from tests.mutants.mutant import Mutant

LEDGER, EASY = "sim/ledger.py", "order/site/policies/easy.py"
TELEMETRY = "tests/coupled/test_telemetry.py"
ROWS = "tests/coupled/test_shared_rows.py"
PAIRS = "tests/coupled/test_pairs.py::test_a_pair_runs_as_if_all_parts_were_called_or_is_refused"
LIMITS = "tests/coupled/test_limits.py"
CLUSTER = "tests/worlds/test_cluster.py"
STREAMS = ("tests/worlds/test_streams.py::test_all_that_is_drawn_in_a_cluster_has_a_stream_of_its_own",)
FLEET = "tests/coupled/test_fleet_cores_by_hand.py"
ADDRESSES = "tests/policy/test_addresses.py"
ONE_NUMBER = (f"{ROWS}::test_two_parts_cannot_have_one_number",)
TAKEN = f"{LIMITS}::test_no_job_takes_the_cores_that_a_part_may_take_when_the_head_starts"
CLAIMED = "tests/order/test_easy_views.py::test_easy_equals_its_definition_with_processors_that_others_claim"
HORIZON = (f"{FLEET}::test_the_horizon_is_the_next_end_of_a_task_and_not_a_poll_of_links",)
ONE_OBJECT = (f"{ADDRESSES}::test_one_object_decides_for_two_sites_only_if_it_declares_so",)

MUTANTS = (
    # 1. Tasks that lost their node are counted at the last one.
    Mutant(
        "sim/telemetry/pressure.py",
        "        if node >= 0:\n",
        "        if node >= -1:\n",
        (f"{TELEMETRY}::test_a_task_that_loses_its_node_at_the_end_of_a_step_is_at_no_node",),
    ),
    # 2. Two parts join the ledger with one number.
    Mutant(LEDGER, "        if part in self._numbers:\n", "        if False:\n", ONE_NUMBER),
    Mutant(LEDGER, "        self._numbers.add(part)\n", "", ONE_NUMBER),
    # 3. Two parts set the capacity of a row.
    Mutant(
        LEDGER,
        '        _claim(self._owners, rows, owner, "the',
        '        _claim({}, rows, owner, "the',
        (f"{ROWS}::test_the_capacity_of_a_row_has_one_owner",),
    ),
    Mutant(
        "sim/instances/part.py",
        '        ledger.own(rows, "instances")\n',
        "",
        (f"{PAIRS}[instances-instances]",),
    ),
    Mutant(
        "sim/outages.py",
        '        ledger.own(np.unique(rows.start + timetable.node), "outages")\n',
        "",
        (f"{PAIRS}[outages-outages]",),
    ),
    # 4. A promise ignores cores that other parts may take.
    Mutant(
        EASY,
        "need = procs[view.queue[0]] + view.owed + view.claimed",
        "need = procs[view.queue[0]] + view.owed",
        (f"{TAKEN}[1.0-easy]",),
    ),
    Mutant(
        EASY,
        "need = procs[view.queue[head]] + view.owed + view.claimed",
        "need = procs[view.queue[head]] + view.owed",
        (f"{TAKEN}[0.0-easy]",),
    ),
    Mutant(EASY, "extra[0] -= view.owed + view.claimed", "extra[0] -= view.owed", (f"{CLAIMED}[1]",)),
    Mutant(
        "order/site/lib/reserved_line.py",
        "= view.now, view.free - view.claimed, np",
        "= view.now, view.free, np",
        (f"{TAKEN}[1.0-conservative]",),
    ),
    Mutant(
        "order/site/reservation.py",
        "need, others = now + view.claimed,",
        "need, others = now,",
        (f"{LIMITS}::test_a_promise_expects_a_part_to_take_what_it_may[easy]",),
    ),
    Mutant(
        "sim/site/part.py",
        "        if widest > sure:\n",
        "        if False:\n",
        (f"{LIMITS}::test_without_a_limit_a_wide_job_is_promised_nothing_and_overtaken",),
    ),
    # 5. A node without cores looks busy.
    Mutant(
        "sim/telemetry/cores.py",
        "        sums.present[node] = measured and sums.capacity[node] > 0\n",
        "        sums.present[node] = True\n"
        "        sums.step_held[node] = sums.step_held[node] if measured else 1.0\n",
        (f"{TELEMETRY}::test_a_node_without_cores_is_absent_and_rejects_nothing",),
    ),
    Mutant(
        "sim/telemetry/cores.py",
        "max(sums.seen_idle[node], 0) / cores)",
        "max(sums.seen_idle[node], 0) / sums.whole[node])",
        (f"{TELEMETRY}::test_a_node_with_part_of_its_cores_is_measured_against_those",),
    ),
    # 6. Dispatch counts on all possible instances.
    Mutant(
        "experiment/worlds/cluster/spec.py",
        "return self.floor * self.sites[site].capacity if",
        "return float(self.sites[site].speeds().sum()) if",
        (f"{CLUSTER}::test_dispatch_counts_on_what_nodes_have_while_others_hold_all_their_cores",),
    ),
    # 7. Without an autoscaler, all possible instances are up.
    Mutant(
        "experiment/worlds/cluster/build.py",
        "            if site.instances is None:\n",
        '            if site.instances is None or "scale" in self._setting.without:\n',
        (f"{CLUSTER}::test_without_scale_tasks_run_on_no_instance_but_those_that_are_kept",),
    ),
    Mutant(
        "experiment/worlds/cluster/policies.py",
        "                    scale=_static(base),\n",
        "                    scale=_static(max(bases.values())),\n",
        (f"{CLUSTER}::test_each_site_keeps_its_own_number_of_instances_without_scale",),
    ),
    # 8. Random streams of several consumers collide.
    Mutant(
        "experiment/workloads/streams.py",
        "[self.seed, zlib.crc32(name.encode()), len(name)]",
        "[self.seed, 1]",
        STREAMS,
    ),
    Mutant(
        "experiment/worlds/cluster/make_policies.py",
        'streams.stream(f"{registry.key}.{name}")',
        "streams.stream(name)",
        STREAMS,
    ),
    # 9. Patience delays arrivals.
    Mutant(
        "sim/queries/part.py",
        "        if self._arrived > before:\n            self._call_planner(now)\n",
        "        if self._arrived > before:\n"
        "            self._call_planner(max(now, self._clock.planned + self._terms.patience))\n",
        (
            "tests/coupled/test_queries_on_sites.py"
            "::test_patience_saves_calls_for_capacity_and_delays_no_arrival",
        ),
    ),
    # 10. Jobs of two sites that have one number are taken for each other.
    Mutant(
        "experiment/worlds/cluster/explain/batch.py",
        "for each in done.rigid if (each.load, each.site) == (job.load, job.site))",
        "for each in done.rigid if each.load == job.load)",
        ("tests/worlds/test_explained_batch.py::test_jobs_with_one_number_at_two_sites_are_told_apart",),
    ),
    # 11. A fleet with a compiled policy has no next instant, or each poll of its links is one.
    Mutant(
        "sim/fleet/steps.py",
        "    return _next_change(_opened(address).state)\n",
        "    state = _opened(address).state\n"
        "    return np.inf if state.run[0].python == 0 else _next_change(state)\n",
        HORIZON,
    ),
    Mutant(
        "sim/fleet/steps.py",
        "min(coming, poll + run.shortest if run.moves == 0 else poll)",
        "min(coming, poll)",
        HORIZON,
    ),
    # 12. Two parts of small tasks use each idle core twice.
    Mutant(
        LEDGER,
        '        _claim(self._idle_users, rows, user, "the',
        '        _claim({}, rows, user, "the',
        (f"{ROWS}::test_idle_cores_of_a_row_have_one_user",),
    ),
    Mutant(
        "sim/workers/part.py",
        '    ledger.use_idle(rows, "small tasks")\n',
        "",
        (f"{PAIRS}[tasks-tasks]",),
    ),
    # 13. Orders of a site and of a fleet have one key.
    Mutant(
        "sim/coupled.py",
        'return self._due[0].decision + self._names.get(id(self._due[0].part), "")',
        "return self._due[0].decision",
        (f"{ADDRESSES}::test_orders_of_sites_and_of_fleets_are_distinguished_by_the_load",),
    ),
    # 14. One object that learns decides for two sites.
    Mutant(
        "policy/addresses.py",
        "        if first != address and not (declared is not None and declared.shared):\n",
        "        if False:\n",
        ONE_OBJECT,
    ),
    Mutant(
        "scale/policies/thrifty.py",
        '    name: ClassVar[str] = "thrifty"\n',
        '    name: ClassVar[str] = "thrifty"\n    shared = True\n',
        ONE_OBJECT,
    ),
    Mutant(
        "scale/policies/hazard.py",
        '    name: ClassVar[str] = "hazard"\n',
        '    name: ClassVar[str] = "hazard"\n    shared = True\n',
        (f"{ADDRESSES}::test_an_object_that_learns_decides_for_one_site[Hazard]",),
    ),
)
