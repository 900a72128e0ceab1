"""The logic of the benchmarks: table, verdicts, comparison, plots. Nothing is measured here."""
