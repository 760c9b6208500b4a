"""Changes of what writes files, looks at addresses, and refuses options."""

from tests.mutants.mutant import Mutant

ADDRESS = "engines/address.py"
OF_FILES = ("tests/saving",)
_FUZZ = "tests/fuzz/test_fuzz.py"
OF_ADDRESS = (
    f"{_FUZZ}::test_invalid_ports_are_rejected",
    f"{_FUZZ}::test_invalid_hosts_are_rejected",
    f"{_FUZZ}::test_valid_hosts_and_ports_are_accepted",
    f"{_FUZZ}::test_local_hosts_are_recognised",
)
OF_EFFECTS = ("tests/cli/test_effects.py",)

MUTANTS = (
    Mutant("io/together.py", "shutil.rmtree(fresh, ignore_errors=True)", "pass", OF_FILES),
    Mutant("io/files.py", ", src_dir_fd=file.fileno())", ")", OF_FILES),
    Mutant("io/files.py", 'ending = f".new{place.suffix[:80]}"', 'ending = ".new"', OF_FILES),
    Mutant(ADDRESS, " or (scope[1] and not scope[2].isalnum())", "", OF_ADDRESS),
    Mutant(ADDRESS, " and len(text) <= 5", "", OF_ADDRESS),
    Mutant(ADDRESS, "(6 if brackets else 4)", "(4 if brackets else 6)", OF_ADDRESS),
    Mutant(ADDRESS, "return not _NUMBER.fullmatch(labels[-1])", "return True", OF_ADDRESS),
    Mutant("cli/option_checks.py", "if other not in given:", "if option in given:", OF_EFFECTS),
)
