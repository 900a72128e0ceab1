"""Benchmarks: ratios against a bare app in the same run. Run one with `python -m benchmarks.message`."""
