"""Benchmarks: every figure that the project has a goal for, as a ratio within one run. Run `python -m benchmarks`."""
