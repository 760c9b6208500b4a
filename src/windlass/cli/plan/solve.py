"""``windlass plan solve``: the plans of several planners for queries on clusters."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from windlass.cli.output import print_lines, print_tables, write_json
from windlass.cli.plan.output import reasons, tables_of, tree_of
from windlass.model import InputError
from windlass.plan import POLICIES
from windlass.plan.files import read_hierarchy, read_queries
from windlass.plan.solve import PlannerResult, solve
from windlass.policy.user_code import contain_policies


def solve_command(
    queries: Path, cluster: Path, policies: Sequence[str], *, seed: int, explain: bool, as_json: bool
) -> None:
    """Read queries and clusters, call the planners, and print their plans."""
    if not policies:
        raise InputError(f"--policy: no name given, expected one of {', '.join(POLICIES.names())}")
    with contain_policies():
        for name in policies:
            # A wrong name is reported before the work.
            POLICIES.find(name)
        hierarchy, listed = read_hierarchy(cluster), read_queries(queries)
        try:
            found = solve(listed, hierarchy, policies, seed)
        except InputError as error:
            raise InputError(f"{queries}: {error}") from error
    if as_json:
        write_json([tree_of(each) for each in found])
        return
    print_tables(*tables_of(found))
    for each in found:
        print_lines([*(reasons(each) if explain else ()), _summary(each)])


def _summary(of: PlannerResult) -> str:
    merged = ", equal work is done once (not in the bound)" if of.plan.merged else ""
    absent = of.plan.choices.count(-1)
    rest = f"; {absent} of {len(of.plan.choices)} cannot run" if absent else ""
    return f"{of.policy}: mean accuracy {of.mean:.4g}, LP bound {of.bound:.4g}{merged}{rest}"
