"""The page over the whole application, without a browser: the shell, its files, and what they may do."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from graphlib import TopologicalSorter
from html import unescape
from typing import Any

import httpx
import pytest

from sendbox.assembly import make_app
from sendbox.contract.validators import Contract
from sendbox.page import lines
from sendbox.page.answers import FOLDER, TYPES, assets, bundle, imports, style_sheet
from sendbox.page.routes import FIRST_ROWS
from sendbox.runtime.teams import parse_tokens
from sendbox.runtime.worlds import Runtime
from sendbox.settings import Settings
from tests.scenarios import load

KEY = "test-page"
#: The longest module of the page.
LONGEST = 200
#: The most bytes of script and style together, as they are sent.
MOST_BYTES = 82_000


@dataclass
class Sandbox:
    """The application, called in process."""

    client: httpx.AsyncClient
    runtime: Runtime

    async def page(self, query: str = f"?world={KEY}", status: int = 200) -> str:
        response = await self.client.get(f"/_sandbox/{query}")
        assert response.status_code == status
        assert response.headers["content-type"] == "text/html; charset=utf-8"
        return response.text

    async def send(self, *numbers: str, key: str = KEY, **more: Any) -> None:
        body = {"to": [{"phone_number": number} for number in numbers], "body": "Hello", **more}
        await self.client.post("/v2/message", json=body, headers={"x-api-key": key})

    async def advance(self, by: str = "1m", key: str = KEY) -> None:
        response = await self.client.post(f"/_sandbox/worlds/{key}/clock/advance", json={"by": by})
        assert response.status_code == 200


@asynccontextmanager
async def serving(**settings: Any) -> AsyncIterator[Sandbox]:
    app = make_app(Settings(mode="manual", start=1_772_355_600_000, **settings), load("default"), Contract())
    transport, runtime = httpx.ASGITransport(app), app.runtime
    async with httpx.AsyncClient(transport=transport, base_url="http://box:7357") as client:
        yield Sandbox(client, runtime)
    await runtime.aclose()


def text_of(page: str) -> str:
    """What a reader sees: without the style, tags and heaps of white space."""
    page = re.sub(r"<style>.*?</style>|<title>.*?</title>", " ", page, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]*>", " ", page).split())


@pytest.mark.asyncio
async def test_the_shell_has_what_its_scripts_need() -> None:
    """Version, addresses and what is served stand in the shell; a browser without scripts is led to the JSON."""
    async with serving() as box:
        shell = await box.page("")
        served = json.loads(unescape(re.findall('data-served="([^"]*)"', shell)[0]))
        assert {"messages", "phones", "deliveries"} <= set(served["operations"])
        assert served["lists"] == []
        addresses = json.loads(unescape(re.findall('data-addresses="([^"]*)"', shell)[0]))
        assert addresses["base_url"] == "http://box:7357/v2"
        text = text_of(shell)
        assert "curl http://box:7357/v2/message -H &#39;x-api-key: test-demo&#39;" in text
        assert "base_url http://box:7357/v2" in text
        assert box.runtime.worlds == {}


@pytest.mark.asyncio
async def test_the_shell_is_the_same_whatever_the_address_says() -> None:
    """Nothing of the address, of a world or of a client stands in the shell; its scripts read the address."""
    async with serving() as box:
        await box.send("420777000101", tag="<b>tag</b>")
        assert await box.page("?world=%3Cscript%3E&view=x") == await box.page("")


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("query", "addresses"),
    [
        ("", []),
        ("?view=messages", []),
        ("?world=test-a&view=due", []),
        ("?world=test-a&view=messages&search=x", []),
        ("?world=test-a", ["/worlds/test-a", f"/worlds/test-a/{FIRST_ROWS['phones']}"]),
        (
            "?world=%22%3E%3Cb%3E/%3F&view=messages",
            ["/worlds/%22%3E%3Cb%3E%2F%3F", f"/worlds/%22%3E%3Cb%3E%2F%3F/{FIRST_ROWS['messages']}"],
        ),
    ],
)
async def test_the_shell_names_what_its_scripts_ask_first(query: str, addresses: list[str]) -> None:
    """So a browser fetches it while the scripts come; nothing where they send a token."""
    links = re.compile('<link rel="preload" as="fetch" crossorigin href="/_sandbox([^"]*)">')
    async with serving() as box:
        assert [unescape(link) for link in links.findall(await box.page(query))] == addresses
    async with serving(control_tokens=parse_tokens("root admin 0123456789abcdef", "tokens")) as box:
        assert links.findall(await box.page(query)) == []


@pytest.mark.asyncio
async def test_only_files_of_the_page_may_run() -> None:
    """The policy allows no script, style, frame or host but the sandbox itself, and nothing inline."""
    async with serving() as box:
        answer = await box.client.get("/_sandbox/")
        policy = answer.headers["content-security-policy"]
        rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
        assert rules == {
            "default-src": "'none'",
            "script-src": "'self'",
            "style-src": "'self'",
            "worker-src": "'self'",
            "connect-src": "'self'",
            "img-src": "'self' data:",
            "form-action": "'self'",
            "base-uri": "'none'",
            "frame-ancestors": "'none'",
        }
        assert not re.search(r"<style|\son\w+=|\sstyle=|<script(?! type=\"module\" src=)", answer.text)


@pytest.mark.asyncio
async def test_files_are_kept_by_browsers_while_they_stay_the_same() -> None:
    """Each file is served under the stamp of all files, for ever; under another stamp it is served, and not kept."""
    async with serving() as box:
        for path, file in assets().files.items():
            for coding in ("gzip", "identity"):
                headers = {"accept-encoding": coding}
                answer = await box.client.get(f"/_sandbox/page/{assets().stamp}/{path}", headers=headers)
                assert answer.content == file.content
                assert answer.headers.get("content-encoding", "identity") == coding
                assert answer.headers["content-type"].startswith(file.kind)
                assert "immutable" in answer.headers["cache-control"]
        old = await box.client.get("/_sandbox/page/0/js/page.js")
        assert (old.status_code, old.headers["cache-control"]) == (200, "no-store")
        for path in ("js/none.js", "../routes.py", "js", ""):
            missing = await box.client.get(f"/_sandbox/page/{assets().stamp}/{path}")
            assert (missing.status_code, missing.json()["error"]) == (404, "not_found")


@pytest.mark.asyncio
@pytest.mark.parametrize(("query", "target"), [("", "/_sandbox/"), ("?world=test-a", "/_sandbox/?world=test-a")])
async def test_the_address_without_a_slash_leads_to_the_page(query: str, target: str) -> None:
    """/_sandbox leads to /_sandbox/, and loses nothing on the way."""
    async with serving() as box:
        answer = await box.client.get(f"/_sandbox{query}")
        assert (answer.status_code, answer.headers["location"]) == (307, target)


@pytest.mark.asyncio
@pytest.mark.parametrize(("accept", "kind"), [("text/html,*/*", "text/html"), ("*/*", "text/plain")])
async def test_a17_an_expired_link_has_a_page_for_browsers(accept: str, kind: str) -> None:
    """A17: 410 once a link has expired, 404 for one that never was; a browser gets a page that says so."""
    async with serving() as box:
        await box.send("420777000101", body="Look: https://shop.example/a", params={"_url": {}})
        await box.advance()
        world = f"/_sandbox/worlds/{KEY}"
        (message,) = (await box.client.get(f"{world}/messages")).json()["messages"]
        url = message["links"][0]["url"]
        await box.advance("400d")
        for address, status, words in ((url, 410, "link has expired"), (url[:-1] + "_", 404, "link")):
            answer = await box.client.get(address, headers={"accept": accept})
            assert (answer.status_code, answer.headers["content-type"].split(";")[0]) == (status, kind)
            assert words in answer.text


@pytest.mark.asyncio
async def test_the_page_loads_one_script_and_one_style() -> None:
    """They are few bytes, so that the first rows are there soon on a slow connection; nothing comes later."""
    async with serving() as box:
        shell = await box.page("")
    loaded = re.findall(r'<(?:script|link rel="stylesheet")[^>]*/page/[0-9a-f]+/([^"]+)"', shell)
    assert sorted(loaded) == ["css/page.css", "js/page.js"]
    files = assets().files
    assert sum(len(files[path].compressed) for path in loaded) < MOST_BYTES
    assert [path for path in files if path.endswith(".js")] == ["js/page.js"]
    script, style = (files[path].content.decode() for path in ("js/page.js", "css/page.css"))
    for path in FOLDER.rglob("*.js"):
        assert script.count(f'"{path.relative_to(FOLDER).as_posix()}"() {{') == 1
    for path in FOLDER.rglob("*.css"):
        assert path.name == "hosted.css" or style_sheet([path.read_text()]) in style


def test_no_modules_use_each_other_in_a_circle() -> None:
    """Such modules could not be bundled."""
    paths = sorted(FOLDER.rglob("*.js"))
    modules = {path.relative_to(FOLDER).as_posix(): path.read_text() for path in paths}
    needs = {path: imports(path, text) for path, text in modules.items()}
    assert set(TopologicalSorter(needs).static_order()) == set(modules)


@pytest.mark.parametrize(
    ("module", "function"),
    [
        ('import { a, b as c } from "./x.js";\n', 'const { a, b: c } = use("js/x.js");\nreturn {  };'),
        ('import * as x from "../x.js";\n', 'const x = use("x.js");\nreturn {  };'),
        ('import "./x.js";\n', 'use("js/x.js");\nreturn {  };'),
        ('export { a, b } from "./x.js";\n', 'const { a, b } = use("js/x.js");\nreturn { a, b };'),
        ("export async function a() {}\nexport class B {}\n", "async function a() {}\nclass B {}\nreturn { a, B };"),
        (
            "export const { a: b } = c;\nexport const [d] = e;\n",
            "const { a: b } = c;\nconst [d] = e;\nreturn { b, d };",
        ),
        ("/** About. */\n\n  // why\n  export const { a } = b;\n", "const { a } = b;\nreturn { a };"),
        ("await import(`./views/${tag}.js`);\n", "await useLater(`js/views/${tag}.js`);\nreturn {  };"),
        ("import(`./views/a.js`);\n", "useLater(`js/views/a.js`);\nreturn {  };"),
    ],
)
def test_a_module_becomes_a_function(module: str, function: str) -> None:
    """Each form of import and export that the page has, without what no browser needs."""
    modules = {"js/a.js": module, "js/x.js": "", "x.js": ""}
    script = bundle(modules, "js/a.js", "js/x.js")
    (text,) = re.findall(r'"js/a.js"\(\) \{\n(.*?)\n\}(?:\n\};|,)', script, re.DOTALL)
    assert text.strip() == function


def test_modules_are_short_and_bring_nothing() -> None:
    """No module of the page is long, makes markup of text, runs text, or asks another host."""
    for path in sorted(path for path in FOLDER.rglob("*") if path.suffix in TYPES):
        text = path.read_text()
        assert text.count("\n") <= LONGEST, path
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text), (
            path
        )
        assert set(re.findall(r"https?://[\w.]+", text)) <= {"http://www.w3.org", "https://example.com"}, path
        if path.suffix == ".js":
            assert text.startswith("/**"), f"{path} does not say what it is for"


def test_lines_quote_what_a_shell_would_read() -> None:
    """A key or a file with quotes and spaces stays one word of the shell."""
    line = lines.send_line("http://h/v2", "a'b; rm", cacert="my ca.pem")
    assert "--cacert 'my ca.pem'" in line
    assert """'x-api-key: a'"'"'b; rm'""" in line
