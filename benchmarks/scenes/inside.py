"""What is measured inside a process: validation, worlds, the fixture, holds of the loop."""

from __future__ import annotations

import json

from benchmarks.bench import Bench
from benchmarks.goals import Samples

#: The scene of holds with the longest body that is read.
LARGE = "a message of 16 MB"


def validation(bench: Bench) -> Samples:
    """The contract beside `jsonschema-rs` alone."""
    for _ in bench.rounds(5):
        factor = bench.machine()
        for tree in bench.trees:
            with bench.trying(tree):
                took: dict[str, float] = json.loads(tree.probe("validation"))
                figures = {"refusal": took["refusal"] * 1e6 / factor, "refusal:measured, µs": took["refusal"] * 1e6}
                for name in ("typical", "big"):
                    figures[f"validate-{name}"] = took[name] / took[f"{name} alone"]
                    figures[f"validate-{name}:ours, µs"] = took[name] * 1e6
                yield tree.name, figures


def worlds(bench: Bench) -> Samples:
    """New worlds."""
    for _ in bench.rounds(5):
        factor = bench.machine()
        for tree in bench.trees:
            with bench.trying(tree):
                took: dict[str, float] = json.loads(tree.probe("worlds"))
                figures = {f"world-{name}": each * 1e6 / factor for name, each in took.items()}
                yield tree.name, figures | {f"world-{name}:measured, µs": each * 1e6 for name, each in took.items()}


def fixture(bench: Bench) -> Samples:
    """The server of a test session."""
    for _ in bench.rounds(5):
        factor = bench.machine()
        for tree in bench.trees:
            with bench.trying(tree):
                took: dict[str, float] = json.loads(tree.probe("fixture"))
                figures = {f"fixture-{name}": each * 1e3 / factor for name, each in took.items()}
                yield tree.name, figures | {f"fixture-{name}:measured, ms": each * 1e3 for name, each in took.items()}


def exploration(bench: Bench) -> Samples:
    """The first run of a test that is explored; each round is a session."""
    for _ in bench.rounds(7):
        factor = bench.machine()
        for tree in bench.trees:
            with bench.trying(tree):
                took: dict[str, float] = json.loads(tree.probe("exploration"))
                figures = {"explore-first": took["first"] * 1e3 / factor}
                yield tree.name, figures | {f"explore-first:{name}, ms": each * 1e3 for name, each in took.items()}


def holds(bench: Bench) -> Samples:
    """The longest hold of the loop in each scene; collections of garbage are told apart."""
    for _ in bench.rounds(3, 1):
        factor = bench.machine()
        for tree in bench.trees:
            with bench.trying(tree):
                scenes: dict[str, dict[str, float]] = json.loads(tree.probe("holds", "quick" if bench.quick else ""))
                held = {name: each["work"] * 1e3 / factor for name, each in scenes.items()}
                figures = {"hold-large": held.pop(LARGE), "hold": max(held.values())}
                figures |= {f"hold:{name}, ms": each for name, each in held.items()}
                collected = max(each["collection"] for each in scenes.values()) * 1e3 / factor
                yield tree.name, figures | {"hold:longest collection of garbage, ms": collected}
