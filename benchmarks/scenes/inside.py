"""What is measured inside a process: validation, worlds, the fixture, holds of the loop."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from benchmarks.bench import Bench
from benchmarks.goals import Samples
from benchmarks.trees import Tree

#: The scene of holds with the longest body that is read.
LARGE = "a message of 16 MB"


def probed(bench: Bench, name: str, rounds: range, given: str = "") -> Iterator[tuple[Tree, float, Any]]:
    """For each round and tree: the tree, how many times slower the machine is, and what the probe measured."""
    for _ in rounds:
        factor = bench.machine()
        for tree in bench.trees:
            with bench.trying(tree):
                yield tree, factor, json.loads(tree.probe(name, given))


def validation(bench: Bench) -> Samples:
    """The contract beside `jsonschema-rs` alone."""
    for tree, factor, took in probed(bench, "validation", bench.rounds(5)):
        figures = {"refusal": took["refusal"] * 1e6 / factor, "refusal:measured, µs": took["refusal"] * 1e6}
        for name in ("typical", "big"):
            figures[f"validate-{name}"] = took[name] / took[f"{name} alone"]
            figures[f"validate-{name}:ours, µs"] = took[name] * 1e6
        yield tree.name, figures


def worlds(bench: Bench) -> Samples:
    """New worlds."""
    for tree, factor, took in probed(bench, "worlds", bench.rounds(5)):
        figures = {f"world-{name}": each * 1e6 / factor for name, each in took.items()}
        yield tree.name, figures | {f"world-{name}:measured, µs": each * 1e6 for name, each in took.items()}


def fixture(bench: Bench) -> Samples:
    """The server of a test session."""
    for tree, factor, took in probed(bench, "fixture", bench.rounds(5)):
        figures = {f"fixture-{name}": each * 1e3 / factor for name, each in took.items()}
        yield tree.name, figures | {f"fixture-{name}:measured, ms": each * 1e3 for name, each in took.items()}


def exploration(bench: Bench) -> Samples:
    """The first run of a test that is explored; each round is a session."""
    for tree, factor, took in probed(bench, "exploration", bench.rounds(7)):
        figures = {"explore-first": took["first"] * 1e3 / factor}
        yield tree.name, figures | {f"explore-first:{name}, ms": each * 1e3 for name, each in took.items()}


def holds(bench: Bench) -> Samples:
    """The longest hold of the loop in each scene; collections of garbage are told apart."""
    for tree, factor, scenes in probed(bench, "holds", bench.rounds(3, 1), "quick" if bench.quick else ""):
        held = {name: each["work"] * 1e3 / factor for name, each in scenes.items()}
        figures = {"hold-large": held.pop(LARGE), "hold": max(held.values())}
        figures |= {f"hold:{name}, ms": each for name, each in held.items()}
        collected = max(each["collection"] for each in scenes.values()) * 1e3 / factor
        yield tree.name, figures | {"hold:longest collection of garbage, ms": collected}
