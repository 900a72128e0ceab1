"""Two open worlds side by side: the first difference, as `sendbox diff` says it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sendbox.cli.diff import diff
from sendbox.control.replicas.journals import as_text
from sendbox.runtime.ending import UNKNOWN
from tests.box import KEY, WORLD, Box, boxed

pytestmark = pytest.mark.asyncio

OTHER = "test-2"


async def compared(box: Box, around: int | None = None) -> dict[str, Any]:
    """What control says of the two worlds."""
    more = "" if around is None else f"&around={around}"
    answer = await box.get(f"{WORLD}/compare?with={OTHER}{more}")
    assert answer.status == 200, answer
    found: dict[str, Any] = answer.json
    return found


async def both(box: Box, *numbers: str) -> None:
    """The same messages in both worlds, a minute apart."""
    for number in numbers:
        for key in (KEY, OTHER):
            await box.send(number, key=key)
            await box.advance("1m", key)


async def saved(box: Box, folder: Path) -> tuple[str, str]:
    """The journals as files, as `sendbox diff` takes them."""
    files = []
    for key in (KEY, OTHER):
        answer = await box.get(f"/_sandbox/worlds/{key}/journal?form=canonical")
        (folder / key).write_text(json.dumps(answer.json))
        files.append(str(folder / key))
    return files[0], files[1]


async def test_equal_worlds() -> None:
    """Nothing is shown but how much is equal."""
    async with boxed() as box:
        await both(box, "420777000101", "420777000102")
        found = await compared(box)
        lines = (await box.get(f"{WORLD}/journal?form=canonical")).json["entries"]
        assert found == {
            "same": True,
            "equal": len(lines),
            "first": None,
            "left_out": [],
            "lines": [f"equal: {len(lines)} entries"],
            "digest": {name: (await box.get(f"{WORLD}/digest")).json["digest"] for name in ("here", "there")},
            "here": [],
            "there": [],
            "rows": [],
        }


async def test_the_first_difference(tmp_path: Path) -> None:
    """Both entries, canonical and in words, with what stands about them; the lines are those of the command."""
    async with boxed() as box:
        await both(box, "420777000101")
        await box.post(f"{WORLD}/hook", {})
        for key, body in ((KEY, "Yes"), (OTHER, "No")):
            await box.send("420777000101", body=body, key=key)
            await box.advance("1m", key)
        await both(box, "420777000101")
        found = await compared(box, 2)
        first = found["first"]
        assert (found["same"], first["at"]) == (False, 60_000)
        assert first["fields"] == [{"path": "body.body", "here": "Yes", "there": "No"}]
        assert (first["here"]["body"]["body"], first["there"]["body"]["body"]) == ("Yes", "No")
        assert first["n"] == first["here"]["n"] == first["there"]["n"] + 1
        assert first["what"] == (
            f"first difference at +1m: a request POST /v2/message (test-1:{first['here']['n']}, "
            f"test-2:{first['there']['n']})"
        )
        lines = (await box.get(f"{WORLD}/journal?form=canonical")).json["entries"]
        assert found["equal"] == [line["n"] for line in lines].index(first["n"])
        for side, key in (("here", KEY), ("there", OTHER)):
            middle = first[side]["n"]
            assert [entry["n"] for entry in found[side]] == list(range(middle - 2, middle + 3))
            assert found[side][2]["canonical"] == [first[side]]
            assert [entry["only"] for entry in found[side]][:3] == [False, False, True]
            for entry in found[side]:
                view = (await box.get(f"/_sandbox/worlds/{key}/journal/{entry['n']}")).json
                assert (entry["at"], entry["kind"]) == (view["at"], view["kind"])
        assert (found["here"][1]["words"], found["here"][1]["canonical"]) == ("the test: hook", [])
        assert found["digest"]["here"] != found["digest"]["there"]
        a, b, difference = diff(*await saved(box, tmp_path))
        a.name, b.name = KEY, OTHER
        assert found["lines"] == list(as_text(a, b, difference))
        assert first["what"] in found["lines"]


@pytest.mark.parametrize("more", [KEY, OTHER])
async def test_one_world_has_more(more: str) -> None:
    """The other one shows the place where that would be: here its end."""
    async with boxed() as box:
        await both(box, "420777000101")
        await box.send("420777000101", key=more)
        found = await compared(box)
        having, lacking = ("here", "there") if more == KEY else ("there", "here")
        first = found["first"]
        assert first[lacking] is None
        assert first["fields"] == []
        assert first["n"] == first[having]["n"]
        assert first["what"].startswith(f"first difference at +1m: {more} has a request that ")
        assert [entry["only"] for entry in found[lacking]] == [False] * 5
        middle = [entry["n"] for entry in found[having]].index(first["n"])
        assert found[having][middle]["only"]
        await box.advance("1m", KEY)
        await box.advance("1m", OTHER)
        await both(box, "420777000103")
        longer = await compared(box, 0)
        assert longer["first"][lacking] is None
        assert (len(longer[having]), longer[lacking]) == (1, [])


async def test_what_happened_in_both_stands_in_one_row() -> None:
    """Where one world has more, the other one has a gap, and what follows in both is side by side again."""
    async with boxed() as box:
        await both(box, "420777000101")
        await box.send("420777000102")
        await both(box, "420777000103")
        found = await compared(box, 12)
        rows = [(row["here"], row["there"]) for row in found["rows"]]
        pairs = [(here, there) for here, there in rows if here and there]
        assert all(here["kind"] == there["kind"] for here, there in pairs)
        assert {(here["only"], there["only"]) for here, there in pairs if here["kind"] != "try"} == {(False, False)}
        alone = [here or there for here, there in rows if not (here and there)]
        assert alone
        assert sum("420777000102" in json.dumps(entry) for entry in alone) > 1
        assert not any("420777000103" in json.dumps(entry) for entry in alone)
        places = [here is None or there is None for here, there in rows]
        assert False in places[places.index(True) :], "nothing follows the gap"
        for around in range(1, 6):
            near = (await compared(box, around))["rows"]
            for row in (near[0], near[-1]):
                entries = [entry for entry in row.values() if entry]
                assert len(entries) == 2 or entries[0]["only"], "its counterpart lies outside"


@pytest.mark.unmeasured
async def test_what_was_forgotten_is_left_out() -> None:
    """Only what both have is compared, and that is said."""
    async with boxed(max_journal=100) as box:
        for _ in range(20):
            await both(box, "420777000101")
        await box.post(f"{WORLD}/hook", {})
        found = await compared(box)
        assert found["same"]
        assert found["left_out"][0].startswith("test-1: the first ")
        assert "(--max-journal=100)" in found["left_out"][0]


@pytest.mark.unmeasured
async def test_equal_requests_that_one_world_has_forgotten() -> None:
    """Their ordinals are counted among those that both worlds still have."""
    async with boxed(max_journal=100) as box:
        await both(box, "420777000101")
        for _ in range(15):
            await box.post(f"{WORLD}/hook", {})
        for _ in range(8):
            await both(box, "420777000101")
        result = await compared(box)
        assert [note.partition(":")[0] for note in result["left_out"]] == [KEY]
        assert result["same"], result["lines"]
        assert result["equal"] > 0


@pytest.mark.parametrize(
    ("query", "status", "message"),
    [
        ("with=test-3", 404, f'"test-3" is not an open world: {UNKNOWN}; POST /_sandbox/worlds opens one'),
        ("with=test-1", 400, 'with: "test-1" is this world; legal: another open world'),
        ("with=test-2&around=-1", 400, "around: -1 is not legal; legal: 0 and more"),
        ("", 400, '"with" is missing; compare needs with'),
        ("with=test-2&then=1", 400, "then: compare answers for the present only: it compares two worlds as they are"),
    ],
)
async def test_what_cannot_be_compared(query: str, status: int, message: str) -> None:
    """Each refusal says what is legal."""
    async with boxed() as box:
        await box.open()
        await box.open(OTHER)
        answer = await box.get(f"{WORLD}/compare?{query}")
        assert (answer.status, answer.json["message"]) == (status, message)
