"""`sendbox diff`: equal journals are equal, and the first entry that differs is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from sendbox.cli import main as cli
from sendbox.cli.diff import read
from sendbox.cli.outcome import CANNOT, NO, OK, USAGE, Failure
from sendbox.control.replicas.journals import Journal, as_text, compare
from sendbox.playing import play
from sendbox.playing.play_result import objects
from tests.commands.sandbox import sandbox


def sendbox(*args: object) -> Result:
    return CliRunner().invoke(cli.sendbox, ["diff", *map(str, args)])


def scenario(then: str = "delivered", **send: Any) -> dict[str, Any]:
    body = {"body": "Hello", "to": [{"phone_number": "420777000101"}], **send}
    return {
        "sendbox": 1,
        "traffic": [{"at": "1s", "request": {"operation": "sendMessage", "body": body}}],
        "attempts": [{"name": "all", "then": then}],
    }


def saved(folder: Path, name: str, given: dict[str, Any], form: str = "play") -> Path:
    """A run as a file: as `play` prints it, or as control answers a journal in one of two forms."""
    everything = json.loads(json.dumps(objects(play(given)), default=str))
    forms = {
        "play": everything,
        "canonical": {"form": "canonical", "entries": everything["canonical"]},
        "plain": {"entries": everything["entries"], "length": len(everything["entries"])},
    }
    file = folder / name
    file.write_text(json.dumps(forms[form]))
    return file


@pytest.mark.unmeasured
@pytest.mark.parametrize("form", ["play", "canonical", "plain"])
def test_equal_runs_are_equal(tmp_path: Path, form: str) -> None:
    """Exit code 0, and one line."""
    a, b = (saved(tmp_path, name, scenario(), form) for name in ("a", "b"))
    result = sendbox(a, b)
    assert (result.exit_code, result.output.partition(":")[0]) == (OK, "equal")


@pytest.mark.unmeasured
def test_forms_of_the_digest_agree(tmp_path: Path) -> None:
    """What play prints, and what control answers in canonical form, are the same."""
    a, b = saved(tmp_path, "a", scenario()), saved(tmp_path, "b", scenario(), "canonical")
    assert sendbox(a, b).exit_code == OK


@pytest.mark.parametrize("form", ["play", "canonical", "plain"])
def test_a_request_that_differs_is_first(tmp_path: Path, form: str) -> None:
    """Field by field, by its content, though all that follows from it differs as well."""
    a, b = saved(tmp_path, "a", scenario(), form), saved(tmp_path, "b", scenario(body="Bye", tag="x"), form)
    result = sendbox("--format", "json", a, b)
    shown = json.loads(result.output)
    assert (result.exit_code, shown["equal"]) == (NO, False)
    assert (shown["first"]["at"], shown["first"]["a"]["kind"]) == (1000, "request")
    fields = {each["path"]: (each["a"], each["b"]) for each in shown["first"]["fields"]}
    assert fields["body.body"] == ("Hello", "Bye")
    assert fields["body.tag"][1] == "x"


def test_a_result_that_differs(tmp_path: Path) -> None:
    """With what happened before it."""
    a, b = saved(tmp_path, "a.json", scenario()), saved(tmp_path, "b.json", scenario("undelivered"))
    result = sendbox(a, b)
    lines = result.output.replace(f"{tmp_path}/", "").splitlines()
    assert result.exit_code == NO
    assert lines[0] == "first difference at +4s: a transition of 420777000101 (a.json:8, b.json:8)"
    assert lines[1] == "before it:"
    assert [line.split()[0] for line in lines[2:5]] == ["+1s", "+2s", "+2s"]
    start = lines.index("--- a.json")
    assert lines[start : start + 8] == [
        "--- a.json",
        "+++ b.json",
        "  result",
        '    - "delivered"',
        '    + "undelivered"',
        "  info",
        '    - "[0] Delivered"',
        '    + "[1] Undelivered"',
    ]
    assert lines[-1] == "in total 2 of 7 entries are only in a.json, 2 of 7 only in b.json"


ENTRY: dict[str, Any] = {"n": 1, "at": 0, "kind": "click", "phone": "1", "target": "x"}
LATER: dict[str, Any] = {"n": 2, "at": 5, "kind": "inbound", "phone": "1", "body": "y" * 300}


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([ENTRY, LATER], [ENTRY], "first difference at +5ms: a has an inbound that b does not have"),
        ([ENTRY], [ENTRY, LATER], "first difference at +5ms: b has an inbound that a does not have"),
        ([ENTRY], [ENTRY, ENTRY], "first difference at +0s: b has a click that a does not have"),
        ([], [ENTRY], "first difference at +0s: b has a click that a does not have"),
        ([ENTRY], [ENTRY | {"kind": "phone"}], "first difference at +0s: a has a click that b does not have"),
    ],
    ids=["only a", "only b", "twice", "empty", "another kind"],
)
def test_what_one_side_has_not(a: list[Any], b: list[Any], expected: str) -> None:
    """An entry without its like is shown whole, on one line."""
    lines = list(as_text(Journal("a", a), Journal("b", b), compare(a, b)))
    assert lines[0] == expected
    assert any(line.startswith(("- click", "+ click", "- inbound", "+ inbound")) for line in lines)
    assert max(map(len, lines)) < 200


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([ENTRY, ENTRY | {"phone": "2"}], [ENTRY | {"phone": "2", "n": 7}, ENTRY]),
        ([], []),
    ],
    ids=["order", "nothing"],
)
def test_what_does_not_count(a: list[Any], b: list[Any]) -> None:
    """Order within an instant, and numbers."""
    assert compare(a, b) is None


def test_the_most_alike_are_compared() -> None:
    """Of several entries of a kind the one of the same phone, and lists item by item."""
    a = [{"n": 1, "at": 0, "kind": "try", "phone": "1", "x": [1, {"y": 2}], "z": [1]}]
    others = [
        {"n": 1, "at": 0, "kind": "try", "phone": "2", "x": [1, {"y": 2}], "z": [1]},
        {"n": 2, "at": 0, "kind": "try", "phone": "1", "x": [1, {"y": 3}], "z": [1, 2]},
    ]
    found = compare(a, others)
    assert found is not None
    assert found.fields == [("x[1].y", 2, 3), ("z", [1], [1, 2])]


def test_a_request_of_the_other_side_is_first() -> None:
    """It is what the others follow from."""
    found = compare([ENTRY], [LATER | {"at": 0}, {"n": 3, "at": 0, "kind": "request", "status": 200}])
    assert found is not None
    assert (found.a, (found.b or {})["kind"], found.at) == (None, "request", 0)


def test_forms_are_not_mixed(tmp_path: Path) -> None:
    """A journal as people see it cannot be compared with one that the digest reads."""
    plain, canonical = saved(tmp_path, "a", scenario(), "plain"), saved(tmp_path, "b", scenario(), "canonical")
    for pair in ((plain, canonical), (canonical, plain)):
        result = sendbox(*pair)
        assert result.exit_code == USAGE
        assert f"sendbox: {plain} was saved without form=canonical, {canonical} with it" in result.stderr


def test_names_of_plain_journals_do_not_count(tmp_path: Path) -> None:
    """Worlds of other ids have other names; bodies that are no JSON are compared as they are."""

    def journal(key: str, name: str, origin: str) -> dict[str, Any]:
        answer = json.dumps({"token": name, "url": f"{origin}/s/{name}", "world": key})
        return {
            "entries": [
                {"n": 0, "at": "2026-03-02T09:00:00.000Z", "kind": "opened"},
                {
                    "n": 1,
                    "at": "2026-03-02T09:00:01.000Z",
                    "kind": "request",
                    "key": f"{key}~a",
                    "body": "x",
                    "answer": answer,
                },
                {
                    "n": 2,
                    "at": "2026-03-02T09:00:02.000Z",
                    "kind": "click",
                    "url": f"{origin}/s/{name}",
                    "more": [None],
                },
            ]
        }

    (tmp_path / "a").write_text(json.dumps(journal("test-a", "00aabbccddeeff001234", "http://one:1")))
    (tmp_path / "b").write_text(json.dumps(journal("test-bb", "0011223344556677abcd", "https://two")))
    assert sendbox(tmp_path / "a", tmp_path / "b").exit_code == OK
    (tmp_path / "b").write_text('{"entries": []}')
    assert sendbox(tmp_path / "a", tmp_path / "b").exit_code == NO


LEGAL = "holds no journal; legal: what /worlds/ID/journal answers, or sendbox play --format json"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read: No such file or directory"),
        ("{", "is not JSON: "),
        ("[]", f"{LEGAL}\n"),
        ("{}", f"{LEGAL}\n"),
        ('{"entries": [1]}', f"{LEGAL}; entries[0] is something else"),
        ('{"entries": [{"n": 0, "at": 5, "kind": "x"}]}', f"{LEGAL}; entries[0].at is something else"),
        ('{"entries": [{"n": 0, "at": "soon", "kind": "x"}]}', f"{LEGAL}; 'soon' is not an RFC 3339 instant"),
        ('{"canonical": [{"n": 0, "at": "soon", "kind": "x"}]}', f"{LEGAL}; entries[0].at is something else"),
        ('{"entries": [], "form": "canonical", "first": "x"}', f"{LEGAL}; first is something else"),
    ],
    ids=[
        "no file",
        "no json",
        "no object",
        "nothing",
        "no entries",
        "no instant",
        "no time",
        "no milliseconds",
        "no number",
    ],
)
def test_files_that_hold_no_journal(tmp_path: Path, content: str | None, said: str) -> None:
    """It is said what is wrong."""
    file = tmp_path / "x"
    if content is not None:
        file.write_text(content)
    result = sendbox(file, file)
    assert result.exit_code == CANNOT
    assert f"sendbox: {file} {said}" in result.stderr


def test_addresses_that_name_no_world() -> None:
    """An address needs the path of a world."""
    with pytest.raises(Failure, match=r"is not the address of a world; legal: http://HOST:PORT/_sandbox/worlds/ID"):
        read("http://127.0.0.1:1/x")


@pytest.mark.unmeasured
@pytest.mark.asyncio
async def test_worlds_are_compared_by_their_addresses(tmp_path: Path) -> None:
    """Two worlds of a server, with other ids; one that is not there is told."""
    import asyncio

    import httpx

    async with sandbox() as served, httpx.AsyncClient(trust_env=False, timeout=60) as client:
        for world in ("test-a", "test-b"):
            opened = {"id": world, "clock": {"mode": "manual", "start": "2026-03-02T09:00:00Z"}}
            await client.post(f"{served.origin}/_sandbox/worlds", json=opened)
            body = {"body": "Hello", "to": [{"phone_number": "420777000101"}]}
            await client.post(f"{served.origin}/v2/message", json=body, headers={"x-api-key": world})
        a, b = (f"{served.origin}/_sandbox/worlds/{world}" for world in ("test-a", "test-b"))
        assert (await asyncio.to_thread(sendbox, a, f"{b}/journal")).exit_code == OK
        result = await asyncio.to_thread(sendbox, a, f"{served.origin}/_sandbox/worlds/test-c")
        assert result.exit_code == CANNOT
        assert '"test-c" is not an open world' in result.stderr


def at(*instants: int) -> list[dict[str, Any]]:
    return [{"n": n, "at": instant, "kind": "transition", "phone": str(instant)} for n, instant in enumerate(instants)]


def kept(folder: Path, name: str, instants: tuple[int, ...], **more: Any) -> Path:
    """A canonical journal of which a part is there."""
    file = folder / name
    file.write_text(json.dumps({"form": "canonical", "entries": at(*instants), **more}))
    return file


def test_what_is_left_is_compared(tmp_path: Path) -> None:
    """Where entries were forgotten, or not saved, the instants that both have whole are compared, and that is said."""
    whole = kept(tmp_path, "whole", (0, 1000, 1000, 2000, 3000))
    forgotten = kept(tmp_path, "forgotten", (1000, 2000, 3000), first=2)
    result = sendbox(whole, forgotten)
    assert result.exit_code == OK
    assert result.output == (
        f"{forgotten}: the first 2 entries were forgotten (--max-journal); only later instants are compared\n"
        "equal: 2 entries\n"
    )
    limited = kept(tmp_path, "limited", (0, 1000), more=True)
    assert json.loads(sendbox("--format", "json", limited, whole).output)["left_out"] == [
        f"{limited}: it was saved with a limit, and more entries follow; only earlier instants are compared"
    ]
    assert sendbox(limited, whole).output.endswith("equal: 1 entries\n")
    other = kept(tmp_path, "other", (0, 1000, 2000, 2500), first=2)
    assert sendbox(other, forgotten).exit_code == NO
    assert sendbox(kept(tmp_path, "nothing", (), first=9), whole).output.endswith("equal: 0 entries\n")
    assert sendbox(kept(tmp_path, "none", (), more=True), whole).output.endswith("equal: 0 entries\n")


def test_a_plain_journal_without_its_start(tmp_path: Path) -> None:
    """Its instants cannot be counted from the start of the world, which was forgotten."""
    file = tmp_path / "plain"
    file.write_text(json.dumps({"entries": [{"n": 5, "at": "2026-03-01T09:00:00Z", "kind": "request"}], "first": 5}))
    result = sendbox(file, file)
    assert (result.exit_code, "save it with form=canonical" in result.stderr) == (CANNOT, True)


@pytest.mark.unmeasured
@pytest.mark.asyncio
async def test_worlds_that_forgot_are_compared() -> None:
    """Of two equal worlds of a server that keeps few entries, what is left is equal; the digest is not trusted."""
    import asyncio

    import httpx

    async with sandbox(max_journal=20) as served, httpx.AsyncClient(trust_env=False, timeout=60) as client:
        for world in ("test-a", "test-b"):
            opened = {"id": world, "clock": {"mode": "manual", "start": "2026-03-02T09:00:00Z"}}
            await client.post(f"{served.origin}/_sandbox/worlds", json=opened)
            for _ in range(6):
                body = {"body": "Hello", "to": [{"phone_number": "420777000101"}]}
                await client.post(f"{served.origin}/v2/message", json=body, headers={"x-api-key": world})
                await client.post(f"{served.origin}/_sandbox/worlds/{world}/clock/advance", json={"by": "1m"})
        result = await asyncio.to_thread(sendbox, *(f"{served.origin}/_sandbox/worlds/test-{x}" for x in "ab"))
        assert result.exit_code == OK
        assert result.output.count("were forgotten (--max-journal=20)") == 2
        proof = (await client.get(f"{served.origin}/_sandbox/worlds/test-a/digest")).json()
        assert (proof["trusted"], proof["lost"] > 0) == (False, True)
