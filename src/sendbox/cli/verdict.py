"""`sendbox verdict`: asks a sandbox which expectations of a world hold, and prints that as text, JSON or JUnit."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final
from xml.etree import ElementTree as ET

import click

from sendbox.cli import address
from sendbox.cli.options import OUTPUT, TOKEN, URL, WORLD, format_option
from sendbox.cli.outcome import NO, OK, one_line, write_output
from sendbox.engine.expect.verdict import distrust_reason, lines, proves, reasons, warned, warning_lines

if TYPE_CHECKING:
    from sendbox.control.records import Verdict


@click.command()
@URL
@TOKEN
@WORLD
@format_option("text", "json", "junit")
@OUTPUT
@click.option(
    "--strict", is_flag=True, help="A warning fails it: a rule that never decided, a name that the world lacks."
)
def verdict_command(url: str | None, world: str | None, format: str, output: Path | None, strict: bool) -> int:
    """The sandbox must be running. Move the clock of the world first, so that everything has happened: the verdict is
    that at the end of the world, where what was still open has failed. Exit code 1 when an expectation does not hold,
    has a condition that nothing can meet, the client made no call (unless just that is expected), or the verdict cannot
    be trusted because entries of the journal were forgotten; also when nothing is expected: the scenario has no expect.
    Warnings name rules that never decided, and keys, senders and tags in conditions that the world does not have. With
    --format junit every expectation is a test case of a report that CI shows.

    \b
    Example:
      sendbox verdict --url http://sandbox:7357 --world test-demo --format junit --output verdict.xml
    """
    name, judged = verdict(world, url or address.default(), strict=strict)
    text = _as_junit(name, judged, strict=strict) if format == "junit" else _FORMATS[format](judged)
    write_output(text, output)
    return code(judged)


def verdict(world: str | None, url: str, *, strict: bool = False) -> tuple[str, Verdict]:
    """The world, and the verdict as at its end; the only open world unless one is named. Raises `Failure`.

    With `strict` warnings fail it.
    """
    origin = address.origin(url)
    world = address.world_at(origin, world)
    return world, address.call(origin, "verdict", world, {"ended": True, **({"strict": True} if strict else {})})


def code(judged: Verdict) -> int:
    """0 where something is expected, and everything that is holds and can be trusted; else 1."""
    return OK if judged["expectations"] and proves(judged) else NO


def _as_text(judged: Verdict) -> str:
    return "".join(f"{one_line(line)}\n" for line in lines(judged))


def _as_json(judged: Verdict) -> str:
    return json.dumps(judged.json, indent=2, ensure_ascii=False) + "\n"


def _as_junit(world: str, judged: Verdict, *, strict: bool) -> str:
    """A test case for each expectation, and one with an error where the verdict cannot be trusted or judges nothing.

    Warnings stand in `system-out`, or, with `strict`, each is a failed test case.
    """
    wrong = judged["warnings"] if strict else []
    views, doubt = judged["expectations"], distrust_reason(judged)
    doubted = "the verdict can be trusted"
    if not views:
        doubt, doubted = doubt or "nothing is expected: the scenario has no expect", "something is expected"
    failed = sum(not view["passed"] for view in views) + len(wrong)
    counts = {
        "tests": len(views) + len(wrong) + bool(doubt),
        "failures": failed,
        "errors": int(bool(doubt)),
        "skipped": 0,
    }
    suite = ET.Element("testsuite", {"name": one_line(f"sendbox {world}"), **_texts(counts)})
    for view in views:
        case = ET.SubElement(suite, "testcase", name=one_line(view["name"]), classname=one_line(world))
        if not view["passed"]:
            _reason(case, "failure", view["why"], reasons(view))
    if doubt is not None:
        case = ET.SubElement(suite, "testcase", name=doubted, classname=one_line(world))
        _reason(case, "error", doubt, [doubt])
    for warning in wrong:
        name = one_line(f"no warning: {warning['message']}")
        case = ET.SubElement(suite, "testcase", name=name, classname=one_line(world))
        _reason(case, "failure", warning["message"], [warned(warning)])
    if not strict and (warnings := warning_lines(judged)):
        ET.SubElement(suite, "system-out").text = _text(warnings)
    root = ET.Element("testsuites", _texts(counts))
    root.append(suite)
    ET.indent(root)
    return ET.tostring(root, "unicode", xml_declaration=True) + "\n"


def _texts(counts: dict[str, int]) -> dict[str, str]:
    return {name: str(count) for name, count in counts.items()}


def _reason(case: ET.Element, kind: str, message: str, explained: list[str]) -> None:
    ET.SubElement(case, kind, message=one_line(message)).text = _text(explained)


def _text(explained: list[str]) -> str:
    """Lines as the text of an element; XML allows no control characters."""
    return "\n".join(one_line(line) for line in explained)


_FORMATS: Final[dict[str, Callable[[Verdict], str]]] = {"text": _as_text, "json": _as_json}
