"""`sendbox replay`: equal, different, or not a record that can be read."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from sendbox.cli.export import export
from sendbox.cli.main import main
from sendbox.cli.outcome import CANNOT, NO, OK, Failure
from sendbox.cli.replay import replay
from sendbox.runtime.policy import HttpCall, Outcome
from tests.box import KEY, START, WORLD, boxed, turns
from tests.commands.sandbox import sandbox
from tests.interfaces.rest.calls import put, upload_url


@pytest.fixture(scope="module")
def whole() -> dict[str, Any]:
    """The record of a world with calls, an outcome that an app gave, an act, and a scenario of its own."""

    async def made() -> dict[str, Any]:
        async with boxed() as box:
            await box.open(scenario={"sendbox": 1, "seed": 7, "extends": "default"})

            async def app(call: HttpCall) -> Outcome:
                return Outcome(200, None)

            box.runtime.deliver_to(box.runtime.worlds[KEY], app)
            await box.send()
            await box.advance("1h")
            await box.post(f"{WORLD}/rules", {"when": {}, "then": "failed"})
            await box.send("420777000102")
            await box.advance("1h")
            found: dict[str, Any] = (await box.get(f"{WORLD}/record")).json
            return found

    return asyncio.run(made())


@pytest.fixture
def record(whole: dict[str, Any]) -> dict[str, Any]:
    """A copy to be spoilt."""
    copy: dict[str, Any] = json.loads(json.dumps(whole))
    return copy


def replayed(tmp_path: Path, record: Any) -> tuple[str, int]:
    """What is said of a record, and the exit code."""
    file = tmp_path / "it.record.json"
    file.write_text(json.dumps(record), "utf-8")
    lines, code = replay(file)
    return "\n".join(lines), code


def first(record: dict[str, Any], word: str) -> dict[str, Any]:
    """The first command of a kind."""
    found: dict[str, Any] = next(each for each in record["commands"] if each["command"] == word)
    return found


# --- equal, and different
def test_a_record_that_nobody_changed_is_equal(tmp_path: Path, record: dict[str, Any]) -> None:
    """It says so, with what was compared, and by which versions."""
    text, code = replayed(tmp_path, record)
    assert code == OK
    assert text.startswith(f"{KEY}: equal, {len(record['journal'])} entries, digest {record['digest']}\n")
    assert f"recorded by Sendbox {record['version']}, engine {record['engine']}; replayed by" in text


def _body(record: dict[str, Any]) -> None:
    call = first(record, "call")
    call["body"] = call["body"].replace("Hello", "Good morning")


def _outcome(record: dict[str, Any]) -> None:
    first(record, "outcome")["status"] = 500


def _scenario(record: dict[str, Any]) -> None:
    opening = first(record, "open")
    opening["scenario"] = {**opening["scenario"], "name": "another"}


def _act(record: dict[str, Any]) -> None:
    first(record, "act")["arguments"]["raw"]["then"] = "delivered"


def _entry(record: dict[str, Any]) -> None:
    record["journal"][3][2] = "0" * 16


def _more(record: dict[str, Any]) -> None:
    record["journal"].append(["2026-03-01T12:00:00.000Z", "request", "0" * 16])


def _less(record: dict[str, Any]) -> None:
    del record["journal"][-1]


CHANGES: Final[dict[str, tuple[Callable[[dict[str, Any]], None], str]]] = {
    "a body": (_body, "entry 1 is the first that differs"),
    "an outcome": (_outcome, "is the first that differs"),
    "a scenario": (_scenario, "entry 0 is the first that differs"),
    "an act": (_act, "is the first that differs"),
    "an entry": (_entry, "entry 3 is the first that differs"),
    "an entry more": (_more, "replayed: nothing"),
    "an entry less": (_less, "recorded: nothing"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_the_first_entry_that_differs_is_shown(what: str, tmp_path: Path, record: dict[str, Any]) -> None:
    """With what was recorded there, and what came of it now."""
    change, said = CHANGES[what]
    change(record)
    text, code = replayed(tmp_path, record)
    assert code == NO
    assert text.startswith(f"{KEY}: different\n")
    assert said in text
    assert "  recorded: " in text
    assert "  replayed: " in text


def test_another_digest_is_said(tmp_path: Path, record: dict[str, Any]) -> None:
    """Where no entry differs."""
    record["digest"] = "0" * 64
    text, code = replayed(tmp_path, record)
    assert code == NO
    assert f"the digest was {'0' * 64}, and is " in text


def test_a_record_of_other_rules_says_by_which(tmp_path: Path, record: dict[str, Any]) -> None:
    """An engine of another version makes another world: what differs is shown beside both versions."""
    record["engine"] += 1
    _outcome(record)
    text, code = replayed(tmp_path, record)
    assert code == NO
    assert f"recorded by Sendbox {record['version']}, engine {record['engine']}; replayed by" in text


EARLY: Final[dict[str, tuple[Callable[[dict[str, Any]], object], str]]] = {
    "an unknown act": (lambda record: first(record, "act").update(name="fly"), "'fly' is not an act of this version"),
    "an operation that is no act": (
        lambda record: first(record, "act").update(name="record"),
        "'record' is not an act",
    ),
    "an unknown argument": (
        lambda record: first(record, "act")["arguments"].update(wings=2),
        "'wings' is not an argument of put_rule",
    ),
    "an argument that is not legal": (
        lambda record: first(record, "act")["arguments"]["raw"].update(then="flown"),
        "is no longer accepted: ",
    ),
    "an unknown delivery": (lambda record: first(record, "outcome").update(delivery=99), "a try of delivery 99 ended"),
    "an outcome twice": (
        lambda record: record["commands"].insert(
            record["commands"].index(first(record, "outcome")), dict(first(record, "outcome"))
        ),
        "the replay has none under way",
    ),
    "a path": (lambda record: first(record, "call").update(path="/nowhere"), "/nowhere is at no interface"),
    "a key": (lambda record: first(record, "call").update(key="test-9"), "its key is not there"),
    "a second opening": (
        lambda record: record["commands"].insert(1, first(record, "open")),
        "a record has one opening",
    ),
}


@pytest.mark.parametrize("what", EARLY)
def test_a_command_that_cannot_be_carried_out_ends_the_replay(
    what: str, tmp_path: Path, record: dict[str, Any]
) -> None:
    """It says which one, and why; what there is of the journal is compared."""
    change, said = EARLY[what]
    change(record)
    text, code = replayed(tmp_path, record)
    assert code == NO
    assert "the replay ended early: " in text
    assert said in text


def test_a_place_that_the_world_does_not_come_to_is_said(tmp_path: Path, record: dict[str, Any]) -> None:
    """The replay ends there, and what there is of the journal is compared."""
    record["commands"][-1]["ticks"] += 1000
    text, code = replayed(tmp_path, record)
    assert code == NO
    assert "the replay ended early: a command came at " in text


# --- not a record


def _damaged(change: Callable[[dict[str, Any]], object]) -> Callable[[dict[str, Any]], str]:
    def text(record: dict[str, Any]) -> str:
        change(record)
        return json.dumps(record)

    return text


UNREADABLE: Final[dict[str, tuple[Callable[[dict[str, Any]], str], str]]] = {
    "no JSON": (lambda _: "{", "it is not JSON"),
    "a photo": (lambda _: "\x00\x01", "it is not JSON"),
    "nothing": (lambda _: "", "it is not JSON"),
    "cut off": (lambda record: json.dumps(record)[:-200], "it is not JSON"),
    "a list": (lambda _: "[]", "it is not a record: `sendbox export --as record` writes one"),
    "something else": (lambda _: '{"sendbox": 1}', "it is not a record"),
    "another form": (_damaged(lambda record: record.update(sendbox_record=2)), "this version reads form 1"),
    "no commands": (_damaged(lambda record: record.pop("commands")), 'it is damaged: "commands" is missing'),
    "empty": (_damaged(lambda record: record["commands"].clear()), "its first command does not open a world"),
    "no opening": (_damaged(lambda record: record["commands"].pop(0)), "its first command does not open a world"),
    "an unknown command": (_damaged(lambda record: first(record, "act").update(command="jump")), "'jump' is not"),
    "a command without place": (_damaged(lambda record: first(record, "act").pop("at")), 'command 7: "at" is missing'),
    "a command of a wrong type": (_damaged(lambda record: record["commands"].append(7)), "7 is not an object"),
    "an instant": (
        _damaged(lambda record: first(record, "act").update(at="soon")),
        "damaged: command 7: 'soon' is not an",
    ),
    "a photo of a text": (lambda _: "[" * 5_000, "it is not JSON"),
    "too large": (
        _damaged(lambda record: record["commands"][0].update(seed=2**63)),
        "is outside the range of integers",
    ),
    "a world": (_damaged(lambda record: first(record, "open").update(world=7)), 'command 0: "world" is 7, which no'),
    "a mode": (_damaged(lambda record: first(record, "open").update(mode="x")), "\"mode\" is 'x', which no record has"),
    "no arguments": (_damaged(lambda record: first(record, "act").update(arguments=[])), '"arguments" is [], which no'),
    "a place": (_damaged(lambda record: record["ends"].update(ticks="")), "it is damaged: \"ticks\" is '', which no"),
    "an entry": (_damaged(lambda record: record["journal"].append([])), 'it is damaged: "journal" is ['),
    "a scenario": (
        _damaged(lambda record: first(record, "open").update(scenario={"name": "x", "text": "sendbox: 9\n"})),
        "its scenario is no longer legal",
    ),
}


@pytest.mark.parametrize("what", UNREADABLE)
def test_a_file_that_is_no_record_is_refused(what: str, tmp_path: Path, record: dict[str, Any]) -> None:
    """With a line that names the file, and says what is wrong."""
    made, said = UNREADABLE[what]
    file = tmp_path / "it.json"
    file.write_text(made(record), "utf-8")
    with pytest.raises(Failure) as refused:
        replay(file)
    assert refused.value.code == CANNOT
    message = str(refused.value)
    assert message.startswith(f"{file} cannot be replayed: ")
    assert said in message
    assert "\n" not in message


def test_a_file_that_is_not_there_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """So is one that cannot be read, with exit code 3."""
    with pytest.raises(Failure, match="cannot be read: Is a directory"):
        replay(tmp_path)
    with pytest.raises(Failure, match="cannot be read: No such file"):
        replay(tmp_path / "none.json")
    assert capsys.readouterr().out == ""


# --- what a record holds


@pytest.mark.asyncio
async def test_long_bodies_and_bytes_come_back(tmp_path: Path) -> None:
    """A call of more than 64 KiB, and an upload in gzip, which no text can hold."""
    async with boxed() as box:
        await box.send(body="long " * 20_000)
        path = await upload_url(box, "gz")
        await put(box, path, gzip.compress(b'{"phone_number": "420777000101"}\n', mtime=0), "application/gzip")
        await box.advance("1h")
        record = (await box.get(f"{WORLD}/record")).json
    bodies = [each["body"] for each in record["commands"] if each["command"] == "call"]
    assert max(len(body) for body in bodies if isinstance(body, str)) > 64 * 1024
    assert any(isinstance(body, dict) and set(body) == {"base64"} for body in bodies)
    text, code = await asyncio.to_thread(replayed, tmp_path, record)
    assert (code, "equal" in text) == (OK, True)


@pytest.mark.asyncio
async def test_a_record_that_a_bound_cut_is_refused() -> None:
    """By record, export and checkpoint, with the option that did it."""
    async with boxed(max_journal=10) as box:
        for _ in range(20):
            await box.send()
        await box.advance("1h")
        await turns()
        for answer in (
            await box.get(f"{WORLD}/record"),
            await box.get(f"{WORLD}/export?as=record"),
            await box.get(f"{WORLD}/export?as=pytest"),
            await box.get(f"{WORLD}/export?as=scenario"),
            await box.put(f"{WORLD}/checkpoints/here"),
        ):
            assert answer.status == 409
            assert answer.json["error"] == "record_cut"
            assert answer.json["bound"] == "--max-journal=10"
            assert "--max-journal=10" in answer.json["message"]


@pytest.mark.asyncio
async def test_a_record_is_of_one_moment() -> None:
    """What comes in while it is made waits: commands, journal and digest belong together."""
    async with boxed() as box:
        for number in range(40):
            await box.send(body=f"Number {number}")
        taking = asyncio.create_task(box.get(f"{WORLD}/record"))
        calls = [asyncio.create_task(box.send(body=f"Late {number}")) for number in range(10)]
        record = (await taking).json
        await asyncio.gather(*calls)
        later = (await box.get(f"{WORLD}/record")).json
    requests = sum(kind == "request" for _, kind, _ in record["journal"])
    assert requests == sum(each["command"] == "call" for each in record["commands"])
    assert later["commands"][: len(record["commands"])] == record["commands"]


# --- the command line


@pytest.mark.asyncio
async def test_export_and_replay(tmp_path: Path) -> None:
    """What one writes, the other reads."""
    file = tmp_path / "demo.json"
    async with sandbox(mode="manual", start=START) as served:
        async with httpx.AsyncClient(base_url=served.origin, headers={"x-api-key": KEY}) as client:
            await client.post("/v2/message", json={"to": [{"phone_number": "420777000101"}], "body": "Hello"})
        file.write_text(await asyncio.to_thread(export, KEY, served.origin, "record"), "utf-8")
    text, code = await asyncio.to_thread(replay, file)
    assert (code, text[0].startswith(f"{KEY}: equal")) == (OK, True)


def test_exit_codes(
    tmp_path: Path, record: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """0 where all is equal, 1 where something differs, 3 where nothing can be read."""
    file = tmp_path / "it.json"
    changed = json.loads(json.dumps(record))
    _body(changed)
    for text, code in ((json.dumps(record), OK), (json.dumps(changed), NO), ("{", CANNOT)):
        file.write_text(text, "utf-8")
        monkeypatch.setattr("sys.argv", ["sendbox", "replay", str(file)])
        with pytest.raises(SystemExit) as ended:
            main()
        assert (ended.value.code or 0) == code
    assert "cannot be replayed: it is not JSON" in capsys.readouterr().err
