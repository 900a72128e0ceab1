"""The files of `deploy/`: they have the forms of Kubernetes, Compose, Prometheus and Grafana, and name what there is.

`test_nginx.py` runs the proxy. `promtool` (Debian's package `prometheus`) reads rules and expressions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from prometheus_client import ProcessCollector

from sendbox.runtime.callbacks import Callbacks
from sendbox.server.metrics import METRICS
from sendbox.settings import PORT
from tests.examples.running import need
from tests.examples.test_pipelines import DEPLOY, HEALTH, IMAGE, ran, read, serve_settings

ALERTS: Final = DEPLOY / "prometheus" / "alerts.yml"
DASHBOARD: Final = DEPLOY / "grafana" / "dashboard.json"
#: A metric in an expression.
_METRIC: Final = re.compile(r"\b(?:sendbox|process)_\w+|\bup\b")
LABELS: Final = {"app.kubernetes.io/name": "sandbox"}


# --- Kubernetes


@pytest.fixture(scope="module")
def manifests() -> dict[tuple[str, str], Any]:
    """The objects of the manifest by kind and name."""
    return {(each["kind"], each["metadata"]["name"]): each for each in read(DEPLOY / "kubernetes.yaml")}


Manifests = dict[tuple[str, str], Any]


def test_the_objects_of_kubernetes(manifests: Manifests) -> None:
    """Each has the version of its interface, and all are about the same pods."""
    versions = {
        "StatefulSet": "apps/v1",
        "Service": "v1",
        "Ingress": "networking.k8s.io/v1",
        "NetworkPolicy": "networking.k8s.io/v1",
        "PodDisruptionBudget": "policy/v1",
        "ServiceMonitor": "monitoring.coreos.com/v1",
    }
    assert {kind: each["apiVersion"] for (kind, _), each in manifests.items()} == versions
    stateful = manifests["StatefulSet", "sandbox"]["spec"]
    assert stateful["template"]["metadata"]["labels"] == LABELS
    selectors = [stateful["selector"], manifests["PodDisruptionBudget", "sandbox"]["spec"]["selector"]]
    selectors += [
        manifests["NetworkPolicy", "sandbox"]["spec"]["podSelector"],
        manifests["ServiceMonitor", "sandbox"]["spec"]["selector"],
    ]
    assert selectors == [{"matchLabels": LABELS}] * 4
    services = [manifests["Service", name]["spec"] for name in ("sandbox", "sandbox-pods")]
    assert [service["selector"] for service in services] == [LABELS] * 2
    assert [service["ports"] for service in services] == [[{"name": "http", "port": PORT, "targetPort": "http"}]] * 2
    assert manifests["Service", "sandbox"]["metadata"]["labels"] == LABELS  # where the ServiceMonitor finds it
    assert (services[1]["clusterIP"], stateful["serviceName"]) == ("None", "sandbox-pods")


@pytest.mark.parametrize(
    ("file", "kind"), [("kubernetes.yaml", "StatefulSet"), ("kubernetes-postgresql.yaml", "Deployment")]
)
def test_the_pod_of_kubernetes(file: str, kind: str) -> None:
    """It needs no rights; probes ask for the health, that of life without the store; it has time to end."""
    (workload,) = (each for each in read(DEPLOY / file) if each["kind"] == kind)
    spec = workload["spec"]["template"]["spec"]
    assert workload["spec"]["template"]["metadata"]["labels"] == LABELS
    (container,) = spec["containers"]
    assert container["image"] == IMAGE
    assert container["ports"] == [{"name": "http", "containerPort": PORT}]
    probes = [container[name]["httpGet"] for name in ("startupProbe", "readinessProbe", "livenessProbe")]
    paths = [HEALTH, HEALTH, f"{HEALTH}?store=false"]
    assert probes == [{"path": path, "port": "http"} for path in paths]
    assert container["readinessProbe"]["failureThreshold"] == 6  # a full server can still be reached for half a minute
    assert container["livenessProbe"]["failureThreshold"] == 12
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert spec["securityContext"]["runAsNonRoot"]
    variables = {each["name"]: each.get("value") for each in container["env"]}
    assert variables.keys() <= serve_settings()
    assert "SENDBOX_CONTROL_TOKEN" in variables  # from a secret, if there is one
    assert _megabytes(variables["SENDBOX_MAX_MEMORY"]) < _megabytes(container["resources"]["limits"]["memory"])
    wait = int(container["lifecycle"]["preStop"]["exec"]["command"][1])
    assert wait + int(variables["SENDBOX_GRACE"].removesuffix("s")) < spec["terminationGracePeriodSeconds"]


def test_the_pods_that_share_a_database() -> None:
    """There are several, of the same pods as the other objects; they reach each other and the database."""
    deployment, policy = read(DEPLOY / "kubernetes-postgresql.yaml")
    assert (deployment["apiVersion"], deployment["spec"]["selector"]) == ("apps/v1", {"matchLabels": LABELS})
    assert deployment["spec"]["replicas"] > 1
    variables = [each["name"] for each in deployment["spec"]["template"]["spec"]["containers"][0]["env"]]
    assert "SENDBOX_DATA" in variables
    assert "SENDBOX_SHARD" not in variables
    others, database = policy["spec"]["egress"]
    assert policy["spec"]["ingress"][0]["from"] == others["to"] == [{"podSelector": {"matchLabels": LABELS}}]
    assert [rule["ports"][0]["port"] for rule in (others, database)] == [PORT, 5432]


def test_callbacks_reach_what_is_listed(manifests: Manifests) -> None:
    """The setting allows no private network, and the policy lets out to receivers and the name server only."""
    (container,) = manifests["StatefulSet", "sandbox"]["spec"]["template"]["spec"]["containers"]
    (value,) = (each["value"] for each in container["env"] if each["name"] == "SENDBOX_CALLBACKS")
    Callbacks.parse(value)  # it is legal
    assert not {"private", "any"} & set(value.split(","))
    policy = manifests["NetworkPolicy", "sandbox"]["spec"]
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    assert all("podSelector" in peer for rule in policy["egress"] for peer in rule["to"])
    assert policy["ingress"][0]["ports"] == [{"protocol": "TCP", "port": "http"}]


def test_the_ingress_lets_long_calls_and_bodies_through(manifests: Manifests) -> None:
    """Its host is that of the addresses which the sandbox gives out."""
    ingress = manifests["Ingress", "sandbox"]
    options = {name.rpartition("/")[2]: value for name, value in ingress["metadata"]["annotations"].items()}
    assert (options["proxy-body-size"], options["proxy-buffering"]) == ("0", "off")
    assert int(options["proxy-read-timeout"]) == 3600
    (rule,) = ingress["spec"]["rules"]
    (path,) = rule["http"]["paths"]
    assert path["backend"]["service"] == {"name": "sandbox", "port": {"name": "http"}}
    (container,) = manifests["StatefulSet", "sandbox"]["spec"]["template"]["spec"]["containers"]
    (public,) = (each["value"] for each in container["env"] if each["name"] == "SENDBOX_PUBLIC_URL")
    assert public == f"https://{rule['host']}"


def _megabytes(size: str) -> int:
    return int(size.removesuffix("MB").removesuffix("Mi"))


# --- Compose


def test_the_services_of_compose() -> None:
    """Two sandboxes with numbers of their own, as the proxy names them, and files that there are."""
    (composed,) = read(DEPLOY / "compose.yaml")
    services = composed["services"]
    for number in range(2):
        service = services[f"sandbox-{number}"]
        assert (service["image"], service["read_only"]) == (IMAGE, True)
        assert service["environment"].keys() <= serve_settings()
        assert service["environment"]["SENDBOX_SHARD"] == str(number)
        assert f"sandbox-{number}:{PORT}" in (DEPLOY / "nginx.conf").read_text("utf-8")
        assert not {"private", "any"} & set(service["environment"]["SENDBOX_CALLBACKS"].split(","))
        grace = int(service["environment"]["SENDBOX_GRACE"].removesuffix("s"))
        assert grace < int(service["stop_grace_period"].removesuffix("s"))
    for name in ("proxy", "prometheus"):
        (mount,) = services[name]["volumes"]
        assert (DEPLOY / mount.split(":")[0]).exists()
    (scrape,) = read(DEPLOY / "prometheus" / "prometheus.yml")
    (job,) = scrape["scrape_configs"]
    assert job["static_configs"][0]["targets"] == [f"sandbox-{number}:{PORT}" for number in range(2)]


# --- Prometheus and Grafana


def alerts() -> list[Any]:
    """The rules of the alerts."""
    (document,) = read(ALERTS)
    return [rule for group in document["groups"] for rule in group["rules"]]


def panels() -> Iterator[tuple[str, str]]:
    """The expressions of the dashboard, by the titles of their panels."""
    for panel in json.loads(DASHBOARD.read_text("utf-8"))["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"]


def series() -> set[str]:
    """The names of all series that a scrape has."""
    suffixes = {"histogram": ("_bucket", "_sum", "_count")}
    own = {f"{row.name}{suffix}" for row in METRICS for suffix in suffixes.get(row.kind, ("",))}
    return own | {sample.name for family in ProcessCollector(registry=None).collect() for sample in family.samples}


def test_alerts_and_dashboard_name_metrics_that_there_are() -> None:
    """With the labels by which they are grouped or filled in."""
    expressions = [rule["expr"] for rule in alerts()] + [expression for _, expression in panels()]
    names = {name for expression in expressions for name in _METRIC.findall(expression)}
    assert names <= series() | {"up"}
    labels = {label for row in METRICS for label in row.labels} | {"instance", "job", "le"}
    groups = {
        name.strip()
        for expression in expressions
        for name in ",".join(re.findall(r"by \((.*?)\)", expression)).split(",")
    }
    assert groups - {""} <= labels
    legends = re.findall(r"{{(\w+)}}", DASHBOARD.read_text("utf-8"))
    assert set(legends) <= labels


def test_three_alerts_say_what_to_do() -> None:
    """Each waits before it fires, and has a summary and a description."""
    assert [rule["alert"] for rule in alerts()] == ["SendboxDown", "SendboxMemoryNearlyFull", "SendboxSlow"]
    for rule in alerts():
        assert rule.keys() == {"alert", "expr", "for", "labels", "annotations"}
        assert rule["annotations"].keys() == {"summary", "description"}


def test_panels_do_not_overlap() -> None:
    """Each has a number and a place of its own."""
    document = json.loads(DASHBOARD.read_text("utf-8"))
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in document["panels"]]
    assert len(set(places)) == len(places) == len({panel["id"] for panel in document["panels"]})


def test_promtool_reads_rules_and_expressions(tmp_path: Path) -> None:
    """Alerts fire when they must, the configuration is legal, and so are the expressions of the dashboard."""
    need("promtool")
    folder = DEPLOY / "prometheus"
    ran(["promtool", "check", "config", "prometheus.yml"], folder)
    ran(["promtool", "test", "rules", "alerts.test.yml"], folder)
    rules = [
        {"record": f"panel:{number}", "expr": expression.replace("$__rate_interval", "5m")}
        for number, (_, expression) in enumerate(panels())
    ]
    (tmp_path / "panels.yml").write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}), "utf-8")
    ran(["promtool", "check", "rules", "panels.yml"], tmp_path)
