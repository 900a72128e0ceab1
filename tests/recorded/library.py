"""The scenarios of the library: each as a script that sends its own traffic, and what the command line says of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import yaml

from tests.recorded.box import command
from tests.recorded.messages import Step

FOLDER: Final = Path(__file__).parents[2] / "scenarios"
#: When a world begins whose scenario does not say it.
START: Final = "2026-03-02T09:00:00Z"
#: Not played here, with the reason; `sendbox play` is recorded all the same.
UNPLAYED: Final = {"clock-modes": "its clock runs by itself, so that a world of it differs from run to run"}
_UNITS: Final = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_DURATION: Final = re.compile(r"(\d+)(ms|s|m|h|d)")


class _Loader(yaml.SafeLoader):
    """YAML 1.2 as far as scenarios need it: `true` and `false` are the only booleans, and an instant is a text."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, found) for tag, found in resolvers if tag.rpartition(":")[2] in ("null", "int", "float")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("true|false"), ["t", "f"])


def names() -> list[str]:
    """Every scenario of the library."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def played() -> list[str]:
    """Those that a world plays."""
    return [name for name in names() if name not in UNPLAYED]


def script(name: str, paths: dict[str, str]) -> dict[str, Any]:
    """The scenario's own traffic as a script; `paths` has the method and path of each operation."""
    scenario = yaml.load((FOLDER / f"{name}.yaml").read_text("utf-8"), _Loader)
    steps: list[Step] = []
    now = 0
    for entry in scenario["traffic"]:
        if (at := _milliseconds(entry["at"])) > now:
            steps.append({"advance": {"by": f"{at - now}ms"}})
            now = at
        steps += _steps(entry, paths)
    clock = {"mode": "manual", "start": scenario.get("clock", {}).get("start", START)}
    steps.append({"advance": {"until": "idle"}})
    return {
        "name": name,
        "open": {"scenario": name, "clock": clock},
        "receiver": "app",
        "answers": [200],
        "steps": steps,
    }


def _milliseconds(at: Any) -> int:
    """A duration from the start."""
    return at if isinstance(at, int) else sum(int(count) * _UNITS[unit] for count, unit in _DURATION.findall(at))


def _steps(entry: dict[str, Any], paths: dict[str, str]) -> list[Step]:
    """The steps that send one request of the traffic."""
    request = entry["request"]
    operation: str = request["operation"]
    params = request.get("params", {})
    before: list[Step] = []
    if operation == "openLink":
        before = [{"name": "linked", "control": "GET /messages/{message_id}", "params": params}]
        step: Step = {"call": "GET {url}", "key": None, "params": {"url": "$linked.links.0.url"}}
    elif operation == "uploadBulk":
        gzipped = "gz" in params.get("filetype", "")
        step = {"call": "PUT {url}", "params": params, "key": None, "text": request.get("content", ""), "gzip": gzipped}
        step["headers"] = {"content-type": "application/gzip" if gzipped else "application/jsonl"}
    else:
        step = {"call": paths[operation], "key": _key(request.get("key"))}
        for field, carried in (("body", "json"), ("query", "query"), ("form", "form")):
            if field in request:
                step[carried] = request[field]
        if params:
            step["params"] = params
    if "name" in entry:
        step["name"] = entry["name"]
    return [*before, step]


def _key(key: str | None) -> str:
    if key is None or key == "parent":
        return ""
    return key if key.startswith("$") else f"~{key}"


#: The parts that the command line says.
SAID: Final = ("play-json", "play-mermaid")


def said(name: str) -> dict[str, str]:
    """What the command line says of a scenario beside its golden texts, by the names of these parts."""
    return {
        "play-mermaid": command("play", "--format", "mermaid", name),
        "play-json": command("play", "--format", "json", name),
    }
