"""Tokens of control: every operation and page by every role, with the worlds of two teams."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import pytest
from starlette.routing import BaseRoute, Mount, Route

from sendbox import app
from sendbox.control.operation import Operation
from sendbox.control.routes import HEADERS, PREFIX
from sendbox.control.stream import STREAMED
from sendbox.runtime.teams import parse_tokens
from sendbox.server.application import OpenRoute
from tests.box import Answer, Box, boxed

pytestmark = pytest.mark.asyncio
OPERATIONS: Final[Sequence[Operation]] = (*app.SERVED.operations, *STREAMED)
SECRETS: Final = {name: f"{name}-0123456789abcdef" for name in ("root", "team", "other", "reader", "guest")}
TOKENS: Final = parse_tokens(
    f"""
    # the teams of this test
    root   admin         {SECRETS["root"]}
    team   team   test-a- {SECRETS["team"]}
    other  team   test-b- {SECRETS["other"]}
    reader read          {SECRETS["reader"]}
    guest  read   test-a- {SECRETS["guest"]}
    """,
    "tokens.txt",
)
#: The one operation that changes worlds by an argument of its query.
CLOSING: Final = app.SERVED.by_name["close_worlds"]
OWN, FOREIGN, ABSENT = "test-a-1", "test-b-1", "test-b-2"
EVERYBODY: Final = frozenset(SECRETS)
#: Who may call an operation, by its scope, and by whether it changes something. A scope that is not here fails.
MAY: Final = {
    ("open", False): EVERYBODY,
    ("facts", False): EVERYBODY,
    ("world", False): {"root", "team", "reader", "guest"},
    ("world", True): {"root", "team"},
    ("worlds", False): EVERYBODY,
    ("worlds", True): {"root", "team", "other"},
    ("server", False): {"root", "reader"},
    ("server", True): {"root"},
}


async def ask(box: Box, row: Operation, world: str, name: str | None) -> Answer:
    """The answer to an operation; a stream is left as soon as it began."""
    path = row.path.replace("{id}", world)
    for argument in row.takes:
        path = path.replace(f"{{{argument}}}", "1")
    headers = {} if name is None else {"authorization": f"Bearer {SECRETS[name]}"}

    async def leave() -> Any:
        return {"type": "http.disconnect"}

    return await box.call(row.method, PREFIX + path, headers=headers, receive=leave if row in STREAMED else None)


def routes(of: Sequence[BaseRoute]) -> Iterator[Route]:
    """All routes, but those of the emulated service."""
    for route in of:
        if isinstance(route, Mount):
            yield from routes(route.routes if route.path == PREFIX else [])
        elif isinstance(route, Route):
            yield route


@pytest.mark.parametrize("row", OPERATIONS, ids=lambda row: row.name)
async def test_an_operation_by_every_role(row: Operation) -> None:
    """Its scope decides who may call it. Nobody sees, or learns anything of, a world of another team."""
    for name in SECRETS:
        async with boxed(control_tokens=TOKENS) as box:
            box.runtime.open(OWN)
            box.runtime.open(FOREIGN)
            answer = await ask(box, row, OWN, name)
            assert (answer.status not in (401, 403)) == (name in MAY[row.scope, row.changes]), answer
            if name in ("team", "guest"):
                assert FOREIGN.encode() not in answer.body
            if row.in_path("id") and row.scope == "world" and name in ("team", "guest"):
                here, nowhere = [await ask(box, row, world, name) for world in (FOREIGN, ABSENT)]
                assert here.status == nowhere.status == 403
                assert here.body.replace(FOREIGN.encode(), ABSENT.encode()) == nowhere.body
            assert FOREIGN in box.runtime.worlds


@pytest.mark.unmeasured
@pytest.mark.parametrize("row", OPERATIONS, ids=lambda row: row.name)
async def test_an_operation_without_a_token(row: Operation) -> None:
    """Whoever has no token learns how to send one, and nothing else; a key of a world is none."""
    async with boxed(control_tokens=TOKENS) as box:
        box.runtime.open(OWN)
        answer = await ask(box, row, OWN, None)
        if row.scope == "open":
            assert answer.status == 200
            return
        assert (answer.status, answer.json["error"]) == (401, "no_token")
        assert answer.headers["www-authenticate"] == HEADERS[401]["www-authenticate"]
        unknown = await ask(box, row, ABSENT, None)
        assert (unknown.status, unknown.body) == (answer.status, answer.body)


async def test_every_route_is_an_operation_or_shows_no_world() -> None:
    """A page or an address that is neither would be reached without a token."""
    async with boxed(control_tokens=TOKENS) as box:
        assert "Authorization: Bearer $SENDBOX_TOKEN" in (await box.get("/_sandbox/")).body.decode()
        paths = {PREFIX + row.path for row in OPERATIONS}
        for route in routes(box.app.routes):
            below = route.path if route.path.startswith((PREFIX, "/metrics", "/openapi", "/upload", "/s/")) else PREFIX
            emulated = below.startswith(("/upload", "/s/"))
            assert isinstance(route, OpenRoute) or PREFIX + route.path in paths or emulated, route
        for path in ("/_sandbox/", "/_sandbox/openapi.json", "/metrics", "/openapi.json", "/_sandbox/health"):
            assert (await box.get(path)).status == 200


@pytest.mark.parametrize(
    "header", ["", SECRETS["root"], f"Basic {SECRETS['root']}", f"Bearer {SECRETS['root']}x", "Bearer", f"Bearer {OWN}"]
)
async def test_a_header_without_a_token_of_the_server(header: str) -> None:
    """Another scheme, another token and a key of a world are all the same: 401. None of it is in the log."""
    async with boxed(control_tokens=TOKENS) as box:
        box.runtime.open(OWN)
        answer = await box.call("GET", "/_sandbox/worlds", headers={"authorization": header, "x-api-key": OWN})
        assert answer.status == 401
        assert "is none of this server" in answer.json["message"]
        assert not any(SECRETS["root"] in line for _, line in box.log)
        assert any("control worlds from" in line and "is refused" in line for _, line in box.log)


async def test_a_team_has_its_own_worlds() -> None:
    """It opens, lists and closes worlds of its prefix; one without an id gets one with it."""
    async with boxed(control_tokens=TOKENS) as box:
        team, root = ({"authorization": f"bearer {SECRETS[name]}"} for name in ("team", "root"))
        opened = await box.call("POST", "/_sandbox/worlds", headers=team)
        assert opened.json["id"].startswith("test-a-")
        assert (await box.call("POST", "/_sandbox/worlds", b'{"id": "test-b-7"}', team)).status == 403
        assert (await box.call("POST", "/_sandbox/worlds", b'{"id": "test-b-7"}', root)).status == 201
        listed = await box.call("GET", "/_sandbox/worlds?prefix=test-", headers=team)
        assert [world["id"] for world in listed.json["worlds"]] == [opened.json["id"]]
        assert (await box.call("DELETE", "/_sandbox/worlds?prefix=test-", headers=team)).status == 403
        assert (await box.call("DELETE", "/_sandbox/worlds?prefix=test-a-", headers=team)).json == {"closed": 1}
        assert [*box.runtime.worlds] == ["test-b-7"]
        holder = {"name": "team", "role": "team", "prefix": "test-a-"}
        assert (await box.call("GET", "/_sandbox/token", headers=team)).json == holder


async def test_other_worlds_in_arguments() -> None:
    """A world that is compared with, or followed in a stream, is one of the token's own too."""
    async with boxed(control_tokens=TOKENS) as box:
        box.runtime.open(OWN)
        box.runtime.open(FOREIGN)
        team = {"authorization": f"Bearer {SECRETS['team']}"}
        for world in (FOREIGN, ABSENT):
            for path in (f"/worlds/{OWN}/compare?with={world}", f"/stream?worlds={world}"):
                answer = await box.call("GET", PREFIX + path, headers=team)
                assert (answer.status, answer.json["message"].partition(" is ")[0]) == (403, f'"{world}"')


async def test_a_real_key_is_not_in_the_log() -> None:
    """Whoever asks for its world and may not: the answer and the log show the beginning of it."""
    key = "live-0123456789"
    async with boxed(control_tokens=TOKENS, keys=frozenset({key})) as box:
        box.runtime.open(key)
        team = {"authorization": f"Bearer {SECRETS['team']}"}
        for name in (key, "live-0123456780"):
            answer = await box.call("GET", f"/_sandbox/worlds/{name}", headers=team)
            assert answer.json["message"].startswith('"live…" is not a world of the token team')
        await box.call("POST", "/_sandbox/worlds", f'{{"id": "{key}"}}'.encode(), team)
        assert not any(key in line for _, line in box.log)


async def test_explorations_are_of_a_team() -> None:
    """Their worlds begin with its prefix; another team neither sees nor ends them."""
    async with boxed(control_tokens=TOKENS) as box:
        team, other, root = ({"authorization": f"Bearer {SECRETS[name]}"} for name in ("team", "other", "root"))
        begun = await box.call("POST", "/_sandbox/explorations", b'{"test": "shop"}', team)
        at = f"/_sandbox/explorations/{begun.json['id']}"
        assert (await box.call("POST", f"{at}/next", headers=team)).json["prefix"] == "test-a-explore-1-1-"
        for headers, count in ((team, 1), (other, 0), (root, 1)):
            listed = (await box.call("GET", "/_sandbox/explorations", headers=headers)).json
            assert len(listed["explorations"]) == count
        for method in ("GET", "DELETE"):
            assert (await box.call(method, at, headers=other)).json["error"] == "no_such_exploration"
        assert (await box.call("DELETE", at, headers=root)).status == 200


async def test_no_argument_confirms_a_world_of_others() -> None:
    """Whatever argument has its id, the answer is that to the id of a world that is not there."""
    async with boxed(control_tokens=TOKENS) as box:
        team = {"authorization": f"Bearer {SECRETS['team']}"}
        box.runtime.open(OWN)
        box.runtime.open(FOREIGN)
        asked = 0
        for row in OPERATIONS:
            for argument in row.legal if row.method == "GET" or row is CLOSING else ():
                if row.in_path(argument):
                    paths = [row.path.replace(f"{{{argument}}}", world) for world in (FOREIGN, ABSENT)]
                else:
                    paths = [f"{row.path}?{argument}={world}" for world in (FOREIGN, ABSENT)]
                path, other = (re.sub(r"{\w+}", "1", path.replace("{id}", OWN)) for path in paths)
                here, nowhere = [await box.call(row.method, PREFIX + each, headers=team) for each in (path, other)]
                assert here.status == nowhere.status, path
                assert here.body.replace(FOREIGN.encode(), ABSENT.encode()) == nowhere.body, path
                asked += 1
        assert asked > 100
        assert FOREIGN in box.runtime.worlds


async def test_refused_keys_are_those_of_the_team() -> None:
    """A key that was denied is shown to its team, and to those who see all."""
    async with boxed(control_tokens=TOKENS, strict_keys=True) as box:
        for key in ("test-a-7", "test-b-7", "live-key"):
            await box.post("/v2/message", {}, x_api_key=key)
        expected = {"team": ["test-a-7"], "other": ["test-b-7"], "guest": ["test-a-7"], "reader": 3, "root": 3}
        for name, keys in expected.items():
            headers = {"authorization": f"Bearer {SECRETS[name]}"}
            refused = (await box.call("GET", "/_sandbox/refused", headers=headers)).json["refused"]
            assert (len(refused) if isinstance(keys, int) else [item["key"] for item in refused]) == keys


async def test_the_audit_says_who_changed_what() -> None:
    """The token's name, the address, the operation, the world: for a team its own calls, and those about its worlds."""
    async with boxed(control_tokens=TOKENS) as box:
        root, team, other = ({"authorization": f"Bearer {SECRETS[name]}"} for name in ("root", "team", "other"))
        await box.call("PUT", "/_sandbox/worlds/test-a-1", headers=team)
        await box.call("PUT", "/_sandbox/worlds/test-b-1", headers=other)
        await box.call("POST", "/_sandbox/worlds/test-a-1/reset", headers=root)
        await box.call("GET", "/_sandbox/worlds", headers=root)
        await box.call("DELETE", "/_sandbox/worlds?prefix=test-", headers=root)
        await box.call("POST", "/_sandbox/explorations", b'{"test": "t"}', root)
        rows = (await box.call("GET", "/_sandbox/audit", headers=root)).json["calls"]
        assert [(row["token"], row["operation"], row["world"]) for row in rows] == [
            ("team", "ensure_world", "test-a-1"),
            ("other", "ensure_world", "test-b-1"),
            ("root", "reset", "test-a-1"),
            ("root", "close_worlds", "test-*"),
            ("root", "begin_exploration", None),
        ]
        assert {row["caller"] for row in rows} == {"127.0.0.1:0"}
        assert (await box.call("GET", "/_sandbox/audit?last=2", headers=root)).json["calls"] == rows[-2:]
        assert (await box.call("GET", "/_sandbox/audit", headers=team)).json["calls"] == [rows[0], rows[2], rows[3]]
        assert ("test-a-1", "control reset from 127.0.0.1:0 with the token root") in box.log


async def test_open_control_asks_for_nothing() -> None:
    """Without tokens everybody is an administrator, whatever header comes."""
    async with boxed() as box:
        answer = await box.call("GET", "/_sandbox/token", headers={"authorization": "Bearer nothing"})
        assert answer.json == {"name": None, "role": "admin", "prefix": ""}
        assert (await box.put("/_sandbox/worlds/test-1")).status == 201
        assert [row["token"] for row in (await box.get("/_sandbox/audit")).json["calls"]] == [None]
