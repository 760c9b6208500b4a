"""Do the tests fail when they should? Small changes of the source, each of which some test must see.

- :mod:`tests.mutants.mutant`: a change, and a trial of it on a copy of the source.
- ``tables/``: the changes, a module a room.
"""
