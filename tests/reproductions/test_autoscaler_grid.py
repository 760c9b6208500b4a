"""Which policies and knobs the cost–wait curve has."""

from windlass_reproductions.autoscaler.curve_grid import (
    CLAIRVOYANT,
    DEFAULT,
    HAZARD,
    REACTIVE,
    THRIFTY,
    grid,
    quick_grid,
)


def test_grid_points_are_unique_and_include_the_quick_grid():
    names = [(each.curve, each.knob) for each in grid()]
    assert len(set(names)) == len(names)
    assert set(quick_grid()) < set(grid())
    assert {REACTIVE, HAZARD, CLAIRVOYANT} <= {each.curve for each in quick_grid()}
    assert (REACTIVE, DEFAULT) in names


def test_the_thrifty_policy_is_only_in_the_grid_by_money():
    more = [each for each in grid(by_money=True) if each not in grid()]
    assert {each.curve for each in more} == {THRIFTY}
    assert [each.knob for each in more] == [each.knob for each in grid() if each.curve == HAZARD]
    assert {THRIFTY} == {each.curve for each in quick_grid(by_money=True)} - {
        each.curve for each in quick_grid()
    }
