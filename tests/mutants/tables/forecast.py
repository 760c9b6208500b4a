"""Changes of forecasts, and of the series that they are made of."""

from tests.mutants.mutant import Mutant

SERIES, TIMES = "io/traces/series.py", "io/traces/times.py"
READ = ("tests/traces/test_series.py",)
PRINTED = ("tests/cli/test_forecast.py",)

MUTANTS = (
    Mutant(SERIES, "table.line_of(row) - 1", "table.line_of(row)", READ),
    Mutant(SERIES, "line=each.line - 1", "line=each.line", READ),
    Mutant(SERIES, "for field in fields if field.strip()", "for field in fields", READ),
    Mutant(SERIES, "bool(fields and fields[0].strip()) and all(", "bool(fields) and all(", READ),
    Mutant(TIMES, '_ZONES = ("", "%#z")', '_ZONES = ("", "%z")', READ),
    Mutant(TIMES, '    "%Y-%m-%dT%H:%M",\n', "", READ),
    Mutant(TIMES, '.str.replace(r" ?(UTC|GMT)$", "Z")', "", READ),
    Mutant(TIMES, "None if found.null_count() else found", "found", READ),
    Mutant("cli/forecast_output.py", "[: -question.rows(question.test)]", "", PRINTED),
)
