"""Several sandboxes behind nginx with the recipe of docs/pipelines.md: what reaches the right one, and what cannot."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from sendbox.app import SERVED
from sendbox.control.carriers import Client
from sendbox.settings import PORT
from tests.documentation.markdown import ROOT
from tests.examples.running import LIMIT, Folder, need, plugin
from tests.examples.test_pipelines import DEPLOY, RECIPES, ran
from tests.interfaces.rest.calls import OWN
from tests.serving import free_port

CONFIGURATION: Final = DEPLOY / "nginx.conf"
#: What nginx would write to folders of the machine.
TEMPORARY: Final = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


def command(folder: Path, text: str) -> list[str]:
    """The line that starts nginx with a configuration, in one process that writes only to a folder."""
    places = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in TEMPORARY)
    text = text.replace("http {\n", f"http {{\naccess_log off;\n{places}")
    head = f"pid {folder}/pid;\nerror_log {folder}/error.log;\ndaemon off;\nmaster_process off;\n"
    (folder / "nginx.conf").write_text(head + text, "utf-8")
    return ["nginx", "-p", str(folder), "-e", str(folder / "error.log"), "-c", str(folder / "nginx.conf")]


@contextmanager
def proxy(folder: Path, text: str) -> Iterator[None]:
    """nginx with a configuration."""
    process = subprocess.Popen(command(folder, text), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(LIMIT)
        finally:
            process.kill()


@contextmanager
def farmed(tmp_path: Path, *down: int) -> Iterator[tuple[httpx.Client, list[str]]]:
    """A client of nginx with the recipe, and the addresses of the two sandboxes behind it; those `down` do not run."""
    need("nginx")
    ports = [free_port(), free_port()]
    port = free_port()
    text = CONFIGURATION.read_text("utf-8").replace(f"listen {PORT}", f"listen 127.0.0.1:{port}")
    text = text.replace("resolver 127.0.0.11", f"resolver 127.0.0.1:{free_port()}")  # which resolves nothing
    for number, own in enumerate(ports):
        if number not in down:
            text = text.replace(f"sandbox-{number}:{PORT}", f"127.0.0.1:{own}")
    public = f"http://127.0.0.1:{port}"
    given = {"SENDBOX_PUBLIC_URL": public, "SENDBOX_CLOCK": "manual"}
    folder = Folder(tmp_path)
    with ExitStack() as running:
        for number, own in enumerate(ports):
            if number not in down:
                running.enter_context(
                    folder.serving("sendbox serve", port=own, SENDBOX_SHARD=str(number), **given),
                )
        running.enter_context(proxy(tmp_path, text))
        transport = httpx.HTTPTransport(retries=8)
        client = httpx.Client(transport=transport, base_url=public, trust_env=False, timeout=LIMIT)
        yield running.enter_context(client), [f"http://127.0.0.1:{own}" for own in ports]


@pytest.fixture
def farm(tmp_path: Path) -> Iterator[tuple[httpx.Client, list[str]]]:
    """The same, and both run."""
    with farmed(tmp_path) as both:
        yield both


#: Worlds enough that both sandboxes have some, whatever their ports are.
KEYS: Final = [f"test-farm-{number}" for number in range(40)]


def asked(client: httpx.Client, method: str, path: str, key: str | None = None, **given: Any) -> httpx.Response:
    """An answer that is not an error."""
    headers = {} if key is None else {"x-api-key": key}
    answer = client.request(method, path, headers=headers, **given)
    assert answer.status_code < 400, f"{method} {path}: {answer.status_code} {answer.text}"
    return answer


def test_several_sandboxes_behind_nginx(farm: tuple[httpx.Client, list[str]]) -> None:
    """Whatever names its world in header, path or query reaches the sandbox that has it."""
    client, own = farm
    for key in KEYS:
        asked(client, "POST", "/_sandbox/worlds", key, json={"id": key})
    with httpx.Client(trust_env=False, timeout=LIMIT) as direct:
        lists = [asked(direct, "GET", f"{origin}/_sandbox/worlds").json()["worlds"] for origin in own]
    found = [sorted(row["id"] for row in rows) for rows in lists]
    assert sorted(found[0] + found[1]) == sorted(KEYS)
    for key in (*found[0][:2], *found[1][:2]):
        world = f"/_sandbox/worlds/{key}"
        message = {
            "to": [{"phone_number": "420777000101"}],
            "body": "See https://acme.example/x",
            "params": {"_url": {}},
        }
        asked(client, "POST", "/v2/message", key, json=message)
        simple = {"apikey": key, "phone_number": "420777000102", "body": "Hello"}
        asked(client, "GET", "/v2/simple/message", params=simple)
        asked(client, "POST", f"{world}/clock/advance", json={"by": "1m"})
        messages = asked(client, "GET", f"{world}/messages").json()["messages"]
        assert {row["phone"] for row in messages} == {"420777000101", "420777000102"}
        # with a sub-key
        sub = asked(client, "POST", "/v1/apikey/add", key, json=OWN).json()["apikey"]
        assert sub.startswith(f"{key}~")
        asked(client, "GET", "/v1/apikey/me", sub)
        # what has no key: a short link, an upload, a signup
        shown = [asked(client, "GET", f"{world}/messages/{row['message_id']}").json() for row in messages]
        (link,) = (each["url"] for row in shown for each in row.get("links", ()))
        assert asked(client, "GET", link).headers["location"].startswith("https://acme.example/x")
        bulk = {"bulk_id": "b", "filetype": "jsonl"}
        place = asked(client, "POST", "/v1/messaging/url", key, json=bulk).json()["url"]
        lines, kind = b'{"phone_number": "420777000101", "body": "Hello"}\n', {"content-type": "application/jsonl"}
        assert client.put(place, content=lines, headers=kind).status_code == 200
        body = {"partner_callback_url": "http://client.example/x", "phone_number": "manual", "partner_name": "Acme"}
        begun = asked(client, "POST", "/v1/chatapp/signup", key, json=body).json()
        assert "Acme" in asked(client, "GET", begun["redirect_url"], params={"token": begun["token"]}).text
        asked(client, "GET", "/_sandbox/", params={"world": key})
    # a key that is denied: the link to the reason, by whichever sandbox
    for number in range(8):
        denied = client.get("/v1/apikey/me", headers={"x-api-key": f"live-{number}"})
        reasons = asked(client, "GET", denied.headers["sendbox-journal"])
        assert reasons.headers["sendbox-instance"] == denied.headers["sendbox-instance"]


def test_the_configuration_by_itself(tmp_path: Path) -> None:
    """It is legal where no name of it resolves."""
    need("nginx")
    ran([*command(tmp_path, CONFIGURATION.read_text("utf-8")), "-t"], ROOT)


@pytest.mark.deep
def test_the_python_client_behind_nginx(farm: tuple[httpx.Client, list[str]]) -> None:
    """It names the world of each call in the header, and draws an id where none is given."""
    client, _ = farm
    control = Client(str(client.base_url), SERVED, client)
    served = set()
    for number in range(20):
        given = {"id": f"test-named-{number}"} if number % 2 else {}
        world = control.call("open_world", None, given)["id"]
        control.call("advance", world, {"by": "1m"})
        served.add(client.get(f"/_sandbox/worlds/{world}").headers["sendbox-instance"])
    assert len(served) == 2


@pytest.mark.deep
def test_the_fixture_behind_nginx(farm: tuple[httpx.Client, list[str]], tmp_path: Path) -> None:
    """`pytest --sendbox-url` passes: each world stays where it was opened."""
    client, _ = farm
    text = (RECIPES / "test_smoke.py").read_text("utf-8")
    (tmp_path / "test_many.py").write_text(
        text.replace("def test_", "@pytest.mark.parametrize('number', range(12))\ndef test_")
        .replace("sendbox: Sandbox", "sendbox: Sandbox, number: int")
        .replace("import httpx\n", "import httpx\nimport pytest\n"),
        "utf-8",
    )
    line = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path)]
    printed = ran([*line, *plugin(), "--sendbox-url", str(client.base_url), "test_many.py"], tmp_path)
    assert "12 passed" in printed


@pytest.mark.deep
def test_the_helper_for_node_behind_nginx(farm: tuple[httpx.Client, list[str]]) -> None:
    """Its tests pass several times, so that worlds of both sandboxes are among them."""
    need("node")
    client, _ = farm
    for _ in range(3):
        ran(["node", "examples/sandbox.test.mjs"], ROOT, SANDBOX=str(client.base_url).rstrip("/"))


def test_worlds_of_a_sandbox_that_is_down(tmp_path: Path) -> None:
    """They are answered with 502 in JSON, also while its name does not resolve: no other sandbox takes them."""
    with farmed(tmp_path, 1) as (client, _):
        answers = [client.get("/v1/credit/services", headers={"x-api-key": key}) for key in KEYS[:4]]
        assert {200, 502} == {answer.status_code for answer in answers}
        for answer in answers:
            if answer.status_code == 502:
                assert answer.json()["error"] == "sandbox_down"


@pytest.mark.deep
def test_worlds_are_not_closed_by_prefix_behind_nginx(farm: tuple[httpx.Client, list[str]]) -> None:
    """A part of them would be; one world can be closed."""
    client, _ = farm
    asked(client, "PUT", "/_sandbox/worlds/test-farm-1", json={})
    answer = client.delete("/_sandbox/worlds", params={"prefix": "test-"})
    assert (answer.status_code, answer.json()["error"]) == (421, "several_servers")
    asked(client, "DELETE", "/_sandbox/worlds/test-farm-1")
