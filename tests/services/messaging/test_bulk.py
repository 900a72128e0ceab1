"""Bulk files: taken apart as they come, and read line by line on the world's clock."""

from __future__ import annotations

import gzip
import random
import zlib
from typing import Any

import pytest

from sendbox.engine.durations import Rate
from sendbox.engine.remarks import Finding
from sendbox.engine.world import World
from sendbox.services import limits
from sendbox.services.account.account import Account
from sendbox.services.assume import Assume, BulkLimits
from sendbox.services.messaging.bulk import LONGEST_LINE, PART, Bulk, DecodedLine, IllegalFile, Intake
from sendbox.services.messaging.messaging import Messaging
from tests.core.worlds import HOUR, START, advance, command, go_back, journaled, make_world

WHY = Finding("$", "json", "no is not JSON", "§4.2")
PLAIN = BulkLimits()


def decode(_world: World, _bulk: Bulk, raw: bytes) -> DecodedLine:
    """A line is a number to write to, or `no`."""
    text = raw.decode()
    return DecodedLine(None, b"", [WHY], ()) if text == "no" else DecodedLine(command(text.strip()), raw, (), ())


def taken(data: bytes, filetype: str = "jsonl", limits: BulkLimits = PLAIN, piece: int = 1 << 16) -> Intake:
    """A whole file, fed in pieces."""
    intake = Intake(filetype, limits)
    for at in range(0, len(data), piece):
        for _ in intake.feed(data[at : at + piece]):
            pass
    intake.close()
    return intake


def lines_of(intake: Intake) -> list[bytes]:
    """The lines of a file that was taken in."""
    return b"".join(map(zlib.decompress, intake.blocks)).split(b"\n")[:-1]


def issued(world: World, filetype: str = "jsonl") -> Bulk:
    """An address."""
    return Messaging.of(world).bulks.issue(
        "b1", filetype, Account.of(world).keys[world.id], b"{}", "http://sandbox.example"
    )


def uploaded(world: World, data: bytes) -> Bulk:
    """A file that was stored."""
    Messaging.of(world).bulks.decode = decode
    bulk = Messaging.of(world).bulks.begin(issued(world).address)
    intake = taken(data)
    Messaging.of(world).bulks.store(bulk, intake.blocks, intake.lines)
    return bulk


def fates(world: World) -> list[tuple[int, bool]]:
    """Number of each line, and whether it was taken."""
    return [(line.number, line.request_id is not None) for _, line in journaled(world, "bulk_line")]


# The address


@pytest.mark.parametrize(("seconds", "works"), [(0, True), (59, True), (59.999, True), (60, False), (61, False)])
def test_s8_an_upload_address_is_valid_for_60_seconds(seconds: float, works: bool) -> None:
    """§8: one second before the minute is over it works, at its end it does not."""
    world = make_world()
    bulk = issued(world)
    advance(world, round(seconds * 1000))
    if works:
        assert Messaging.of(world).bulks.begin(bulk.address) is bulk
    else:
        with pytest.raises(IllegalFile, match=r"^Upload address has expired$"):
            Messaging.of(world).bulks.begin(bulk.address)


def test_a35_an_address_cannot_be_forged_nor_used_twice() -> None:
    """One that was never given out is unknown; one that was used, or is in use, is refused."""
    world = make_world()
    bulk = issued(world)
    other = issued(world)
    assert bulk.address != other.address
    assert bulk.address.startswith(world.tag)
    for forged in ("", world.tag, bulk.address[:-1] + ("0" if bulk.address[-1] != "0" else "1")):
        with pytest.raises(IllegalFile, match=r"^Upload address is not valid$") as caught:
            Messaging.of(world).bulks.begin(forged)
        assert caught.value.status == 403
    Messaging.of(world).bulks.begin(bulk.address)
    with pytest.raises(IllegalFile, match=r"^Upload address was used already$"):
        Messaging.of(world).bulks.begin(bulk.address)
    Messaging.of(world).bulks.give_up(bulk)
    assert Messaging.of(world).bulks.begin(bulk.address) is bulk


def test_a_disabled_key_uploads_nothing() -> None:
    """An address ends with its key."""
    world = make_world()
    bulk = issued(world)
    Account.of(world).keys[world.id].disabled = True
    with pytest.raises(IllegalFile, match="disabled apikey"):
        Messaging.of(world).bulks.begin(bulk.address)


def test_the_end_of_an_address_is_journaled() -> None:
    """When the clock passes the minute, the journal says that the address lapsed."""
    world = make_world()
    bulk = issued(world)
    advance(world, limits.UPLOAD)
    assert journaled(world, "lapse") == [(limits.UPLOAD, ("upload", bulk))]


# The file


@pytest.mark.parametrize("piece", [1, 7, 1 << 16])
@pytest.mark.parametrize("filetype", ["jsonl", "gz"])
@pytest.mark.parametrize(
    ("data", "lines"),
    [
        pytest.param(b"", [], id="empty"),
        pytest.param(b"a", [b"a"], id="no-line-break-at-the-end"),
        pytest.param(b"a\nb\n", [b"a", b"b"], id="lines"),
        pytest.param(b"a\n\nb", [b"a", b"", b"b"], id="a-blank-line-counts"),
        pytest.param(b"a\r\nb", [b"a\r", b"b"], id="crlf"),
        pytest.param(b"\n", [b""], id="only-a-line-break"),
    ],
)
def test_s4_2_lines_of_a_file(data: bytes, lines: list[bytes], filetype: str, piece: int) -> None:
    """§4.2: the lines of JSONL and of gzipped JSONL are the same, in whatever pieces they come."""
    intake = taken(gzip.compress(data) if filetype == "gz" else data, filetype, piece=piece)
    assert lines_of(intake) == lines
    assert intake.lines == len(lines)


def test_a_long_file_is_kept_in_blocks() -> None:
    """What is held is compressed, in blocks of whole lines; nothing is lost."""
    data = b"".join(b'{"body":"Hello %06d"}\n' % number for number in range(20_000))
    intake = taken(data)
    assert len(intake.blocks) > 5
    assert sum(map(len, intake.blocks)) < len(data) / 4
    assert b"".join(line + b"\n" for line in lines_of(intake)) == data


def test_a_gzip_of_several_members() -> None:
    """Members one after another are one file (RFC 1952)."""
    data = gzip.compress(b"a\nb") + gzip.compress(b"c\n") + gzip.compress(b"")
    assert lines_of(taken(data, "gz")) == [b"a", b"bc"]
    assert lines_of(taken(data, "gz", piece=5)) == [b"a", b"bc"]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        pytest.param(b"", "Upload is not readable as gzip: it ends too early", id="nothing"),
        pytest.param(gzip.compress(b"a" * 100)[:-1], "Upload is not readable as gzip: it ends too early", id="cut-off"),
        pytest.param(b'{"body":"x"}', "Upload is not readable as gzip: .*incorrect header", id="no-gzip"),
        pytest.param(gzip.compress(b"a") + b"xyz", "Upload is not readable as gzip: .*", id="garbage-behind"),
    ],
)
def test_what_is_no_gzip_is_refused(data: bytes, text: str) -> None:
    """An unreadable file is a 400 that says why."""
    with pytest.raises(IllegalFile, match=text) as caught:
        taken(data, "gz")
    assert caught.value.status == 400


@pytest.mark.parametrize("filetype", ["jsonl", "gz"])
def test_a35_limits_of_a_file(filetype: str) -> None:
    """As many lines and bytes as are legal are taken, one more is refused."""
    pack: Any = gzip.compress if filetype == "gz" else bytes
    limits = BulkLimits(lines=3, bytes=6)
    assert taken(pack(b"a\nb\nc\n"), filetype, limits).lines == 3
    with pytest.raises(IllegalFile, match=r"^Upload has more than 3 lines$") as caught:
        taken(pack(b"a\nb\n\nd"), filetype, limits)
    assert caught.value.status == 413
    with pytest.raises(IllegalFile, match=r"^Upload is longer than 6 bytes unpacked$"):
        taken(pack(b"a\nb\nccc"), filetype, limits)


@pytest.mark.unmeasured
def test_a35_a_gzip_bomb_is_refused_before_it_unpacks() -> None:
    """A file that unpacks to gigabytes is refused once it is over 64 MiB, part by part."""
    packer = zlib.compressobj(9, wbits=31)
    bomb = b"".join(packer.compress(bytes(1 << 20)) for _ in range(80)) + packer.flush()
    assert len(bomb) < 100_000
    intake = Intake("gz", PLAIN)
    parts = intake.feed(bomb)
    for _ in range(PLAIN.bytes // PART):
        next(parts)
        assert sum(map(len, intake._open)) <= LONGEST_LINE + 1
    with pytest.raises(IllegalFile, match="67108864 bytes unpacked"):
        next(parts)
    assert intake.size <= PLAIN.bytes + PART


def test_a35_members_that_hold_nothing_do_not_go_on_for_ever() -> None:
    """What is packed counts too."""
    empty = gzip.compress(b"")
    with pytest.raises(IllegalFile, match="100 bytes unpacked"):
        taken(empty * (70_000 // len(empty) + 100), "gz", BulkLimits(bytes=100))


def test_a_line_that_is_far_too_long_is_not_held() -> None:
    """Only its beginning is kept, and it is skipped when its turn comes."""
    world = make_world()
    uploaded(world, b"420777000101\n" + b"x" * (3 * LONGEST_LINE) + b"\n420777000102")
    advance(world, 10_000)
    assert fates(world) == [(1, True), (2, False), (3, True)]
    line = journaled(world, "bulk_line")[1][1]
    assert line.findings[0].message.startswith("a line of more than 1048576 bytes is not a Message")


# Its lines


def test_a79_lines_are_sent_in_order_and_bad_ones_are_skipped() -> None:
    """Each line's fate is journaled with its number; a blank line has none."""
    world = make_world()
    bulk = uploaded(world, b"420777000101\nno\n\n420777000102\r\n420777000103")
    assert (Messaging.of(world).messages, bulk.state, bulk.lines) == ([], "stored", 5)
    advance(world, 0)
    assert fates(world) == [(1, True), (2, False), (4, True), (5, True)]
    assert (bulk.state, bulk.accepted, bulk.skipped) == ("done", 3, 1)
    advance(world, 10_000)
    assert [message.phone for message in Messaging.of(world).messages] == [
        "420777000101",
        "420777000102",
        "420777000103",
    ]
    assert {message.accepted_at for message in Messaging.of(world).messages} == {START}
    assert {message.submission.operation for message in Messaging.of(world).messages} == {"sendMessage"}
    assert [message.result for message in Messaging.of(world).messages] == ["delivered"] * 3
    assert [what for _, what in journaled(world, "bulk")] == [(bulk, "stored"), (bulk, "done")]
    assert journaled(world, "bulk_line")[1][1].findings == [WHY]


@pytest.mark.parametrize(
    ("ahead", "uploaded_at", "read_at"),
    [
        pytest.param(None, 0, 0, id="no instant"),
        pytest.param(-HOUR, 5_000, 5_000, id="in the past"),
        pytest.param(60_000, 0, 0, id="a minute ahead: at once"),
        pytest.param(60_001, 0, 60_001, id="more than a minute ahead"),
        pytest.param(61_000, 59_999, 61_000, id="more than a minute ahead of the call, not of the upload"),
        pytest.param(HOUR, 30_000, HOUR, id="an hour ahead"),
    ],
)
def test_a87_a_scheduled_file_is_read_at_its_instant(ahead: int | None, uploaded_at: int, read_at: int) -> None:
    """A87: what is more than a minute ahead when the address is asked for waits, and its lines are read then."""
    world = make_world()
    bulks = Messaging.of(world).bulks
    bulks.decode = decode
    key = Account.of(world).keys[world.id]
    bulk = bulks.begin(bulks.issue("b1", "jsonl", key, b"{}", "", None if ahead is None else START + ahead).address)
    advance(world, uploaded_at)
    intake = taken(b"420777000101\nno\n")
    bulks.store(bulk, intake.blocks, intake.lines)
    advance(world, 2 * HOUR)
    assert [(at, line.number, line.request_id is not None) for at, line in journaled(world, "bulk_line")] == [
        (read_at, 1, True), (read_at, 2, False),
    ]  # fmt: skip


def test_a79_sending_limits_do_not_apply() -> None:
    """Neither the limit of the normal queue nor that of identical texts holds a line back (A18, A83)."""
    world = make_world(assume=Assume(queue=Rate(1, 60_000), identical=Rate(1, 3_600_000)))
    uploaded(world, b"420777000101\n" * 5)
    advance(world, 10_000)
    assert [message.result for message in Messaging.of(world).messages] == ["delivered"] * 5


def test_a_restore_in_the_middle_of_a_file() -> None:
    """What was not read yet is read on, in both epochs."""
    worlds = [make_world(), make_world()]
    for each in worlds:
        uploaded(each, b"420777000101\n" * 9)
        each.run(each.now, 4)
        assert 0 < len(Messaging.of(each).messages) < 9
    go_back(worlds[1])
    for each in worlds:
        advance(each, 10_000)
        assert len(Messaging.of(each).messages) == 9
        assert Messaging.of(each).messages[-1].result == "delivered"


def test_any_bytes_in_any_pieces() -> None:
    """What comes out is what went in, however it was cut."""
    draw = random.Random(7)  # the test's own
    for _ in range(30):
        data = bytes(draw.choice(b"ab\n\r{}") for _ in range(draw.randrange(200)))
        packed = draw.choice((data, gzip.compress(data)))
        intake = taken(packed, "gz" if packed != data else "jsonl", piece=draw.randrange(1, 50))
        whole = b"".join(line + b"\n" for line in lines_of(intake))
        assert whole == (data if not data or data.endswith(b"\n") else data + b"\n")
