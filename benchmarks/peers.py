"""Other programs that stand for a service in tests, on the same requests: each does as much of the work as it can.

They come from their registries into `build/benchmarks/peers`, and serve on loopback. One that cannot be had says why.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from benchmarks.bench import Bench
from benchmarks.goals import Samples, Scene
from benchmarks.load import KEY, Load
from benchmarks.mix import bodies
from benchmarks.processes import Broken, Process, output_of
from benchmarks.scenes.commands import environment
from benchmarks.trees import ROOT

FOLDER: Final = ROOT / "build" / "benchmarks" / "peers"
#: Seconds that a peer has to listen.
PATIENCE: Final = 60


@dataclass(frozen=True)
class Peer:
    """A program. `does` and `without` say in words which part of our work it does; `serve` starts it on a port.

    `serve` takes the bench and the port. `load` is the request, where it cannot take ours.
    """

    name: str
    title: str
    does: str
    without: str
    serve: Callable[[Bench, int], Process]
    load: Load = field(default_factory=lambda: Load(1, mix=0))


def free_port(taken: int = 0) -> int:
    """A port that nobody listens at, and that is not `taken`."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    return port if port != taken else free_port(taken)


def measure(peer: Peer, bench: Bench) -> Samples:
    """Processor time of a request of the peer, divided by ours of the mix in the same round."""
    load = Load(bench.size(3_000, 1_000), mix=0)
    theirs = replace(peer.load, requests=bench.size(1_000, 300))
    with bench.served() as servers, peer.serve(bench, free_port()) as process:
        process.listen(PATIENCE)
        if theirs.path == load.path:  # what it answers is an answer
            answer = process.ask("POST", load.path, bodies(0, 1)[0].encode(), key=KEY)
            if not answer.get("accepted"):
                raise Broken(f"{peer.title} answers {answer!r}")
        process.load(theirs)
        for server in servers.values():
            server.load(load)
        for _ in bench.rounds(5):
            base, _ = bench.bare.cost(load)
            took, _ = process.cost(theirs)
            for tree, server in bench.turn(servers):
                ours, _ = server.cost(load)
                row = f"peer-{peer.name}"
                details = {
                    f"{row}:bare, µs": base * 1e6,
                    f"{row}:ours, µs": ours * 1e6,
                    f"{row}:theirs, µs": took * 1e6,
                }
                yield tree.name, {row: took / ours, **details}


def scene(peer: Peer) -> Scene:
    """What measures a peer."""
    return partial(measure, peer)


def npm(name: str, *packages: str) -> Path:
    """A folder with these packages of npm. Raises `Broken` where they cannot be had."""
    if shutil.which("npm") is None:
        raise Broken("npm is not on this machine")
    place = FOLDER / name
    if not (place / "node_modules").is_dir():
        place.mkdir(parents=True, exist_ok=True)
        (place / "package.json").write_text('{"private": true}\n', "utf-8")
        output_of(["npm", "install", "--no-audit", "--no-fund", *packages], env=os.environ, cwd=place)
    return place / "node_modules"


def written(name: str, value: Any) -> Path:
    """A file with settings of a peer."""
    path = FOLDER / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")
    return path


def contract(bench: Bench) -> dict[str, Any]:
    """The OpenAPI document of the service, with the one call that is made."""
    with bench.trees[0].serve() as server:
        document: dict[str, Any] = server.ask("GET", "/openapi.json")
    path = next(path for path in document["paths"] if path.endswith("/message"))
    document["paths"] = {"/v2/message": document["paths"][path]}
    document.pop("webhooks", None)
    document["servers"] = [{"url": "/"}]
    return document


def prism(bench: Bench, port: int) -> Process:
    """Prism in one process, validating."""
    modules = npm("prism-cli", "@stoplight/prism-cli")
    path = written("prism.json", contract(bench))
    command = ["node", str(modules / "@stoplight/prism-cli/dist/index.js"), "mock", "-h", "127.0.0.1", "-p", str(port)]
    return Process([*command, "-v", "error", str(path)], env=os.environ, port=port)


def mockoon(bench: Bench, port: int) -> Process:
    """Mockoon's command line; the answer is a template with an id for each recipient."""
    modules = npm("mockoon-cli", "@mockoon/cli")
    body = (
        '{"request_id":"{{faker \'string.uuid\'}}","accepted":[{{#each (bodyRaw \'to\')}}'
        '{"key":"{{@index}}","message_id":"{{faker \'string.uuid\'}}"}'
        '{{#unless @last}},{{/unless}}{{/each}}],"rejected":[]}'
    )
    key = {"target": "header", "modifier": "x-api-key", "value": "^test-", "invert": False, "operator": "regex"}
    text = {"target": "body", "modifier": "body", "value": ".+", "invert": False, "operator": "regex"}
    response = {
        "uuid": "11111111-1111-4111-8111-111111111112",
        "body": body,
        "latency": 0,
        "statusCode": 200,
        "label": "",
        "headers": [{"key": "content-type", "value": "application/json"}],
        "bodyType": "INLINE",
        "filePath": "",
        "databucketID": "",
        "sendFileAsBody": False,
        "rules": [key, text],
        "rulesOperator": "AND",
        "disableTemplating": False,
        "fallbackTo404": False,
        "default": False,
        "crudKey": "id",
        "callbacks": [],
    }
    refusal = {
        **response,
        "uuid": "11111111-1111-4111-8111-111111111113",
        "statusCode": 400,
        "rules": [],
        "default": True,
    }
    route = {
        "uuid": "11111111-1111-4111-8111-111111111111",
        "type": "http",
        "documentation": "",
        "method": "post",
        "endpoint": "v2/message",
        "responses": [response, refusal],
        "responseMode": None,
        "streamingMode": None,
        "streamingInterval": 0,
    }
    settings = {
        "uuid": "11111111-1111-4111-8111-111111111110",
        "lastMigration": 33,
        "name": "bench",
        "port": port,
        "hostname": "127.0.0.1",
        "endpointPrefix": "",
        "latency": 0,
        "folders": [],
        "routes": [route],
        "rootChildren": [{"type": "route", "uuid": route["uuid"]}],
        "proxyMode": False,
        "proxyHost": "",
        "proxyRemovePrefix": False,
        "tlsOptions": {"enabled": False},
        "cors": False,
        "headers": [],
        "proxyReqHeaders": [],
        "proxyResHeaders": [],
        "data": [],
        "callbacks": [],
    }
    path = written("mockoon.json", settings)
    command = ["node", str(modules / "@mockoon/cli/bin/run.js"), "start", "--data", str(path), "--disable-log-to-file"]
    return Process([*command, "--disable-admin-api"], env=os.environ, port=port)


def mountebank(bench: Bench, port: int) -> Process:
    """An imposter with predicates, an injected answer and the record of requests."""
    modules = npm("mountebank-npm", "mountebank")
    code = (
        "config => { const body = JSON.parse(config.request.body); const id = () => require('crypto').randomUUID(); "
        "return { statusCode: 200, headers: {'content-type': 'application/json'}, body: { request_id: id(), accepted: "
        "body.to.map((_, n) => ({ key: String(n), message_id: id() })), rejected: [] } }; }"
    )
    predicates = [
        {"equals": {"method": "POST", "path": "/v2/message"}},
        {"matches": {"headers": {"x-api-key": "^test-"}}},
        {"exists": {"body": True}},
    ]
    stub = {"predicates": predicates, "responses": [{"inject": code}]}
    imposter = {"protocol": "http", "port": port, "host": "127.0.0.1", "recordRequests": True, "stubs": [stub]}
    path = written("mountebank.json", {"imposters": [imposter]})
    command = ["node", str(modules / "mountebank/bin/mb"), "start", "--configfile", str(path), "--allowInjection"]
    files = ["--nologfile", "--loglevel", "error", "--pidfile", str(FOLDER / "mb.pid"), "--host", "127.0.0.1"]
    return Process([*command, *files, "--port", str(free_port(port))], env=os.environ, port=port)


def wiremock(bench: Bench, port: int) -> Process:
    """WireMock with the schema of the contract, an answer made by its templates, and its journal."""
    if shutil.which("java") is None:
        raise Broken("java is not on this machine")
    modules = npm("wiremock-npm", "wiremock")
    jars = sorted((modules / "wiremock").rglob("*.jar"))
    if not jars:
        raise Broken("the package of npm has no jar; Maven's registry has it")
    document = contract(bench)
    schemas = json.loads(json.dumps(document["components"]["schemas"]).replace("#/components/schemas/", "#/$defs/"))
    answer = (
        '{"request_id":"{{randomValue type=\'UUID\'}}","accepted":[{{#each (jsonPath request.body \'$.to\') as |one|}}'
        '{"key":"{{@index}}","message_id":"{{randomValue type=\'UUID\'}}"}'
        '{{#unless @last}},{{/unless}}{{/each}}],"rejected":[]}'
    )
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$ref": "#/$defs/Message", "$defs": schemas}
    mapping = {
        "request": {
            "method": "POST",
            "urlPath": "/v2/message",
            "headers": {"x-api-key": {"matches": "test-.*"}},
            "bodyPatterns": [{"matchesJsonSchema": schema, "schemaVersion": "V202012"}],
        },
        "response": {
            "status": 200,
            "body": answer,
            "headers": {"content-type": "application/json"},
            "transformers": ["response-template"],
        },
    }
    written("wiremock/mappings/message.json", mapping)
    arguments = ["--port", str(port), "--bind-address", "127.0.0.1", "--root-dir", str(FOLDER / "wiremock")]
    return Process(["java", "-jar", str(jars[-1]), *arguments], env=os.environ, port=port)


_HTTPSERVER: Final = """
import json, sys, threading, uuid
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

def answer(request: Request) -> Response:
    to = json.loads(request.data)["to"]
    accepted = [{"key": str(n), "message_id": str(uuid.uuid4())} for n, _ in enumerate(to)]
    made = {"request_id": str(uuid.uuid4()), "accepted": accepted, "rejected": []}
    return Response(json.dumps(made), content_type="application/json")

server = HTTPServer("127.0.0.1", int(sys.argv[1]))
server.expect_request("/v2/message", method="POST", headers={"x-api-key": "test-bench"}).respond_with_handler(answer)
server.start()
threading.Event().wait()
"""


def httpserver(bench: Bench, port: int) -> Process:
    """pytest-httpserver with a handler that makes ids."""
    python = environment(FOLDER / "pytest-httpserver", "pytest-httpserver", "pytest")
    path = written("httpserver.py", _HTTPSERVER)
    return Process([str(python), str(path), str(port)], env=os.environ, port=port)


def moto(bench: Bench, port: int) -> Process:
    """The server of moto, which has a service of its own that sends a text."""
    python = environment(FOLDER / "moto", "moto[server,sns]")
    return Process([str(python), "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)], env=os.environ, port=port)


_SNS: Final = Load(
    1,
    path="/",
    body="Action=Publish&Version=2010-03-31&PhoneNumber=%2B420777123401&Message=Hello+@n",
    headers={
        "content-type": "application/x-www-form-urlencoded",
        "authorization": "AWS4-HMAC-SHA256 Credential=test/20260301/us-east-1/sns/aws4_request, "
        "SignedHeaders=host, Signature=0",
    },
)

PEERS: Final[tuple[Peer, ...]] = (
    Peer(
        "prism",
        "Prism",
        "routes, asks for the key, validates the body against the same contract, answers an example",
        "no rules beyond the schema, no numbers made normal, no prices, no ids of its own, nothing kept, no webhooks",
        prism,
    ),
    Peer(
        "httpserver",
        "pytest-httpserver",
        "routes, compares the key, parses the body, makes ids in a handler of the test, keeps a log of requests",
        "no contract, no rules, no prices, no journal of results, no webhooks; a connection for each request",
        httpserver,
    ),
    Peer(
        "mockoon",
        "Mockoon",
        "routes, compares the key and a field of the body by rules, makes ids in a template",
        "no contract, no numbers made normal, no prices, nothing kept but a log, no webhooks by results",
        mockoon,
    ),
    Peer(
        "mountebank",
        "mountebank",
        "routes, compares the key by predicates, makes ids in injected code, records requests",
        "no contract, no numbers made normal, no prices, no results, no webhooks",
        mountebank,
    ),
    Peer(
        "wiremock",
        "WireMock",
        "routes, compares the key, validates the body against the same schema, makes ids in a template, keeps a "
        "journal of requests",
        "no numbers made normal, no prices, no results; webhooks only as an answer to a request",
        wiremock,
    ),
    Peer(
        "moto",
        "moto's server",
        "another service: publishes one text to one phone, keeps it",
        "not this request: a form with one recipient, no contract, no steps, no results, no webhooks; a connection for "
        "each request",
        moto,
        _SNS,
    ),
)
