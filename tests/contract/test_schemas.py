"""The schema files: what every one of them keeps to, so that both engines and all readers see the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import orjson
import pytest

from sendbox import data
from sendbox.contract import schemas
from sendbox.contract.validators import Contract

FILES = sorted(path for path in data.folder("schemas").glob("*.json") if not path.name.endswith(".schema.json"))
#: Beside a reference stand only words about it, never a rule: an inlined schema says the same as one that refers.
BESIDE = {"$ref", "description", "deprecated", "x-spec", "x-assumed", "x-assumed-for", "x-replaced-by", "x-switch"}
#: Definitions of what goes out; the others are of what comes in.
OUT = re.compile(
    r"Response|Result$|Error$|Accepted|Rejected|^SentMessage|^Incoming|Billing|^Event$|Batch$|^Onboarding$"
)


def nodes(node: Any, place: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema node with its place; maps of names to nodes are passed through."""
    if isinstance(node, dict):
        yield place, node
        for key, value in node.items():
            if key in ("properties", "$defs"):
                for name, child in value.items():
                    yield from nodes(child, f"{place}/{name}")
            elif key in ("items", "additionalProperties", "propertyNames", "if", "then", "else", "not"):
                yield from nodes(value, f"{place}/{key}")
            elif key in ("oneOf", "anyOf", "allOf"):
                for index, child in enumerate(value):
                    yield from nodes(child, f"{place}/{key}/{index}")


@pytest.fixture(scope="module")
def definitions() -> dict[str, schemas.Node]:
    return schemas.load(data.folder("schemas"))


@pytest.fixture(scope="module")
def everything(definitions: dict[str, schemas.Node]) -> list[tuple[str, dict[str, Any]]]:
    return [entry for name, node in definitions.items() for entry in nodes(node, name)]


Everything = list[tuple[str, dict[str, Any]]]


def test_a98_what_others_recorded_is_judged_by_the_specification(everything: Everything) -> None:
    """`x-recorded` stands in answers only, and loosens keywords that stand beside it."""
    looser = [(place, node) for place, node in everything if "x-recorded" in node]
    assert looser
    for place, node in looser:
        assert OUT.search(place.partition("/")[0]), place
        assert node["x-recorded"].keys() <= node.keys(), place
        assert schemas.as_recorded(node) == {**node, **node["x-recorded"]}


@pytest.mark.unmeasured
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_files_are_schemas_of_the_draft_they_name(path: Path) -> None:
    """Each file is a legal JSON Schema 2020-12, named by its own file name."""
    schema = orjson.loads(path.read_bytes())
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == path.name
    jsonschema.Draft202012Validator.check_schema(schema)


def test_every_definition_names_its_section(definitions: dict[str, schemas.Node]) -> None:
    """`x-spec` stands on each definition, and below where a part has another section."""
    pattern = re.compile(r"§[1-9](\.[0-9])?(, §[1-9](\.[0-9])?)*")
    assert [name for name, node in definitions.items() if not pattern.fullmatch(node.get("x-spec", ""))] == []


def test_every_property_is_described_in_one_sentence(everything: Everything) -> None:
    """Each property and definition has a description that ends with its only full stop."""
    wrong = []
    for place, node in everything:
        for name, child in node.get("properties", {}).items() if not place.endswith(("/if", "/else")) else ():
            description = child.get("description", "")
            if not description.endswith(".") or ". " in description:
                wrong.append(f"{place}/{name}: {description}")
    assert wrong == []


def test_assumptions_have_ids(everything: Everything) -> None:
    """`x-assumed` is the id of one row."""
    wrong = [place for place, node in everything if not re.fullmatch("A[0-9]{2}", node.get("x-assumed", "A00"))]
    assert wrong == []


def test_patterns_mean_the_same_to_every_engine(everything: Everything) -> None:
    """Patterns are anchored at both ends and hold nothing that engines read differently: `.` and `\\d` and its kin."""
    wrong = []
    for place, node in everything:
        pattern = node.get("pattern")
        if pattern is None:
            continue
        bare = re.sub(r"\\.|\[(?:\\.|[^\]\\])*\]", "", pattern)
        if not (pattern.startswith("^") and pattern.endswith("$") and re.search(r"[.$]", bare[1:-1]) is None):
            wrong.append(f"{place}: {pattern}")
        if re.search(r"\\[dDsSwWbB]", pattern):
            wrong.append(f"{place}: {pattern}")
    assert wrong == []


def test_references_carry_no_rules_beside_them(everything: Everything) -> None:
    """A reference has only descriptive keywords beside it."""
    assert [place for place, node in everything if "$ref" in node and not BESIDE.issuperset(node)] == []


def test_requests_have_no_unions(everything: Everything) -> None:
    """A request schema is decided node by node, so that a finding always has one place."""
    unions = {"oneOf", "anyOf", "allOf", "if", "not"}
    assert [place for place, node in everything if unions & node.keys() and not OUT.search(place.split("/")[0])] == []


def test_s2_1_long_texts_are_cut_not_refused(everything: Everything) -> None:
    """§2.1, §8: bodies carry `x-truncate: 1000` and no `maxLength`."""
    cut = [node for _, node in everything if "x-truncate" in node]
    assert [(node["x-truncate"], "maxLength" in node) for node in cut] == [(1000, False)]


def test_responses_are_closed_and_requests_open(everything: Everything) -> None:
    """A response has only the listed fields; a request may have more (A57), except where one key is chosen."""
    wrong = []
    for place, node in everything:
        if "properties" not in node or place.endswith(("/if", "/then", "/else")):
            continue
        closed = node.get("additionalProperties") is False
        chosen = node.get("maxProperties") == 1
        if closed != (chosen or bool(OUT.search(place.split("/")[0]))):
            wrong.append(place)
    assert wrong == []


def test_s9_old_names_are_deprecated(everything: Everything) -> None:
    """§9: exactly the deprecated names are marked, each with the name that took its place."""
    old = {
        name: child["x-replaced-by"]
        for _, node in everything
        for name, child in node.get("properties", {}).items()
        if isinstance(child, dict) and child.get("deprecated")
    }
    assert old == {
        "messageTag": "tag",
        "expires": "expires_at",
        "parameters_body": "params",
        "parameters_header": "params_header",
        "parameters_buttons": "params_buttons",
    }


def test_settings_relax_only_what_is_there(everything: Everything) -> None:
    """`x-setting` names keywords of its node, and settings that exist."""
    settings = [
        (set(node["x-setting"]) - node.keys(), node["x-setting"]) for _, node in everything if "x-setting" in node
    ]
    assert settings == [(set(), {"pattern": "sender_form"})] * 2


def test_without_settings_nothing_else_is_lost() -> None:
    """Only the relaxed keywords go, in lists too."""
    node = {"x-setting": {"pattern": "a"}, "pattern": "x", "type": "string", "oneOf": [{"pattern": "y"}, 1]}
    assert schemas.without_settings(node) == {
        "x-setting": {"pattern": "a"}, "type": "string", "oneOf": [{"pattern": "y"}, 1],
    }  # fmt: skip


def test_references_lead_over_files(tmp_path: Path) -> None:
    """A reference to another file becomes one to the name; whole files of another kind are left alone."""
    (tmp_path / "a.json").write_text('{"$defs": {"A": {"items": {"$ref": "b.json#/$defs/B"}}}}')
    (tmp_path / "b.json").write_text('{"$defs": {"B": {"type": "string"}}}')
    (tmp_path / "c.schema.json").write_text("{}")
    definitions = schemas.load(tmp_path)
    assert definitions == {"A": {"items": {"$ref": "#/$defs/B"}}, "B": {"type": "string"}}
    assert schemas.inlined(definitions, "A") == {"items": {"type": "string"}}
    assert schemas.reachable(definitions, ["A", "B"]) == ["A", "B"]


def test_a_name_given_twice_is_refused(tmp_path: Path) -> None:
    """Names are unique over all files."""
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text('{"$defs": {"A": {}}}')
    with pytest.raises(ValueError, match=r"A is defined twice, the second time in b\.json"):
        schemas.load(tmp_path)


def test_a_reference_to_nothing_is_refused(tmp_path: Path) -> None:
    """A dangling reference shows when the schemas are loaded, not when a request comes."""
    (tmp_path / "a.json").write_text('{"$defs": {"A": {"$ref": "#/$defs/B"}}}')
    with pytest.raises(ValueError, match="B is not defined; A refers to it"):
        schemas.load(tmp_path)


def test_an_unknown_schema_is_a_key_error() -> None:
    """Asking for a checker of nothing is a mistake in a route."""
    with pytest.raises(KeyError):
        Contract().checker("sending.json#/$defs/Nothing")


def test_a_deferred_contract_reads_the_file_that_is_asked_for(tmp_path: Path) -> None:
    """Of a file that refers to no other only that one is read; a wrong file elsewhere is found once all are needed."""
    (tmp_path / "a.json").write_text('{"$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"type": "string"}}}')
    (tmp_path / "b.json").write_text('{"$defs": {"C": {"$ref": "a.json#/$defs/A"}}}')
    (tmp_path / "c.json").write_text('{"$defs": {"B": {}}}')
    contract = Contract(tmp_path, deferred=True)
    assert contract.checker("a.json#/$defs/A").is_valid("x")
    with pytest.raises(ValueError, match="B is defined twice"):
        contract.checker("b.json#/$defs/C")
    with pytest.raises(ValueError, match="B is defined twice"):
        Contract(tmp_path)
    (tmp_path / "c.json").unlink()
    assert not contract.checker("b.json#/$defs/C").is_valid(1)
    with pytest.raises(KeyError):
        contract.checker("d.json#/$defs/D")


def test_a_definition_has_the_fields_of_those_that_it_extends(tmp_path: Path) -> None:
    """Fields come in the order of the text, own keywords win, and what is only extended is no definition."""
    (tmp_path / "a.json").write_text(
        '{"$defs": {"Base": {"x-spec": "§6", "required": ["b"], "properties": {"b": {"type": "string"}, "c": {}}}, '
        '"A": {"type": "object", "required": ["a"], "properties": {"a": {}}, "allOf": [{"$ref": "#/$defs/Base"}], '
        '"unevaluatedProperties": false}, '
        '"B": {"allOf": [{"$ref": "#/$defs/Base"}], "properties": {"b": {"const": "x"}}, '
        '"unevaluatedProperties": false}, '
        '"C": {"allOf": [{"minimum": 1}]}}}'
    )
    properties = {"a": {}, "b": {"type": "string"}, "c": {}}
    definitions = schemas.load(tmp_path)
    assert definitions == {
        "A": {"type": "object", "required": ["a", "b"], "properties": properties, "additionalProperties": False},
        "B": {
            "required": ["b"], "properties": {"b": {"type": "string", "const": "x"}, "c": {}},
            "additionalProperties": False,
        },
        "C": {"allOf": [{"minimum": 1}]},
    }  # fmt: skip
    assert list(definitions["A"]["properties"]) == ["a", "b", "c"]
    assert schemas.load_alone("a.json", tmp_path) == definitions
