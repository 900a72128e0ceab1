"""The conformance cases against the contract; those of other stages are run over HTTP."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from sendbox.contract.validators import Contract
from sendbox.services.messaging.http.legacy import ROUTES as LEGACY
from sendbox.services.messaging.http.legacy_queries import ROUTES as QUERIES
from sendbox.services.messaging.http.sending.routes import ROUTES as SENDING
from sendbox.services.messaging.http.sending.simple import ROUTES as SIMPLE
from sendbox.services.verify.http import ROUTES as VERIFY
from tests.conformance.cases import SCHEMAS, Case, load
from tests.contract.settled import settled_checker

CASES = load()


@pytest.fixture(scope="module")
def contract() -> Contract:
    return Contract()


@pytest.mark.parametrize("case", [pytest.param(case, id=f"{case.section}-{case.name}") for case in CASES])
@pytest.mark.sample(3)
def test_request(case: Case, contract: Contract) -> None:
    """A legal request passes; an illegal one is refused with a first finding of the place and rule given."""
    if case.stage != "schema":
        pytest.skip(f"{case.rule} is a rule of stage {case.stage}: no schema can say it, it is run over HTTP")
    checker = settled_checker(contract, SCHEMAS[case.operation])
    found = checker.findings(case.body)
    assert [(finding.path, finding.rule) for finding in found[:1]] == ([] if case.valid else [(case.path, case.rule)])
    assert checker.is_valid(case.body) is case.valid
    if found:
        assert found[0].section.startswith("§")
        assert found[0].message.endswith((f"({found[0].section})", f"({found[0].section}, {found[0].assumed})"))
        assert len(found[0].message.splitlines()) == 1


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES if case.stage != "schema"])
def test_what_no_schema_can_say_passes_the_schema(case: Case, contract: Contract) -> None:
    """A case of a later stage is marked so for a reason: the schema takes it."""
    assert settled_checker(contract, SCHEMAS[case.operation]).is_valid(case.body)


def test_the_operations_are_those_of_the_routes() -> None:
    """Cases name operations that exist, and check them against the schema that the route has."""
    routes = {
        route.operation: route.request or route.query for route in (*SENDING, *SIMPLE, *LEGACY, *QUERIES, *VERIFY)
    }
    assert {operation: routes.get(operation) for operation in SCHEMAS} == SCHEMAS


def test_names_are_unique() -> None:
    """A name leads to one case."""
    assert [name for name, count in Counter(case.name for case in CASES).items() if count > 1] == []


def test_cases_are_well_formed() -> None:
    """An illegal case says where and why, a legal one has nothing to say."""
    assert [case.name for case in CASES if case.valid != (case.path is None) or case.valid != (case.rule is None)] == []


def test_every_field_and_every_enum_value_is_sent_legally(contract: Contract) -> None:
    """Each property of the request schemas, and each value of their enums, occurs in a legal case."""
    missing = []
    for name, node in contract.definitions.items():
        if name in REQUESTS:
            missing += [f"{name}.{field}" for field in _fields(node) if field not in SENT]
            missing += [f"{name}: {value}" for value in _enums(node) if value not in SENT]
    assert missing == []


def test_every_field_of_a_step_is_refused_when_it_is_null(contract: Contract) -> None:
    """A56 holds for each property of the request schemas: null is illegal, except in the flow button (§2.2);
    a reference is code's, since it may be off.
    """
    legal = []
    for name in REQUESTS:
        for field in contract.definitions[name].get("properties", {}):
            checker = contract.checker(f"x.json#/$defs/{name}")
            findings = checker.findings({field: None})
            if not any(finding.rule == "type" and finding.assumed == "A56" for finding in findings):
                legal.append(f"{name}.{field}")
    assert legal == ["Message.reference", "TemplateButton.flow"]


REQUESTS = (
    "Message Recipient Callback Url DeliveryTime FlowStep SmsStep RichmsgStep RichmsgButton ChatappTextStep "
    "ChatappTemplateStep TemplateHeader MediaLink Product TemplateButton ProductSection ProductItem CarouselCard "
    "SimpleQuery SimpleForm SendForm ApiSendForm ValidationRequest CodeRequest ProofRequest OfflineProofRequest"
).split()
#: `apikey` of the query is how a call is let in, not what it sends; `domain` has to be configured, and `rcs`
#: switched on, as an exchange does.
SENT = {"apikey", "domain", "rcs"}


def _collect(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _collect(item)
    elif isinstance(value, list):
        for item in value:
            yield from _collect(item)
    elif isinstance(value, str):
        yield value


for _case in CASES:
    if _case.valid:
        SENT.update(_collect(_case.body))


def _fields(node: Any) -> list[str]:
    return list(node.get("properties", {}))


def _enums(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        yield from node.get("enum", ())
        for value in node.values():
            yield from _enums(value)
    elif isinstance(node, list):
        for value in node:
            yield from _enums(value)
