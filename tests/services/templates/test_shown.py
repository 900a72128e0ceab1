"""The parts of a template that a phone shows besides its text: header, footer, buttons, cards (§2.2)."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.services.templates.templates import visible_parts
from tests.core.template_parts import body, buttons, header, template, use

IMAGE = "https://cdn.example/a.jpg"


def test_a_template_of_a_body_shows_nothing_else() -> None:
    """Parts that there are not are left out."""
    assert visible_parts(template(body("Hello")), use()) == {}


@pytest.mark.parametrize(
    ("component", "values", "expected"),
    [
        pytest.param(header("TEXT", "Hello"), None, {"kind": "text", "text": "Hello"}, id="text"),
        pytest.param(header("TEXT", "Hello {{1}}"), ["Jana"], {"kind": "text", "text": "Hello Jana"}, id="variable"),
        pytest.param(
            header("TEXT", "Hello {{name}}"),
            [{"text": {"name": "Jana"}}],
            {"kind": "text", "text": "Hello Jana"},
            id="named variable",
        ),
        pytest.param(header("TEXT", "Hello {{1}}"), None, {"kind": "text", "text": "Hello {{1}}"}, id="no value"),
        pytest.param(header("IMAGE"), [IMAGE], {"kind": "image", "link": IMAGE}, id="image"),
        pytest.param(
            header("DOCUMENT"),
            [{"document": {"link": "https://cdn.example/a.pdf", "filename": "a.pdf"}}],
            {"kind": "document", "link": "https://cdn.example/a.pdf", "filename": "a.pdf"},
            id="document",
        ),
        pytest.param(header("IMAGE"), None, {"kind": "image"}, id="an image that is not given"),
        pytest.param(header("LOCATION"), [{"location": "here"}], {"kind": "location"}, id="not an object"),
    ],
)
def test_a_header(component: dict[str, Any], values: list[Any] | None, expected: dict[str, Any]) -> None:
    """A text with its variable filled, or what is there in its place."""
    assert visible_parts(template(component, body("x")), use(header=values)) == {"header": expected}


def test_buttons_with_what_they_lead_to() -> None:
    """A quick reply has the position by which it is pressed; others show where they lead, or their value."""
    compiled = template(
        body("x"),
        buttons(
            {"type": "QUICK_REPLY", "text": "Yes"},
            {"type": "URL", "text": "Open", "url": "https://a.example/{{1}}"},
            {"type": "URL", "text": "Shop", "url": "https://a.example"},
            {"type": "PHONE_NUMBER", "text": "Call", "phone_number": "420900000001"},
            {"type": "COPY_CODE", "text": "Copy"},
            {"type": "OTP", "text": "Copy"},
            {"type": "CATALOG", "text": "Look"},
            {"type": "FLOW", "text": "Fill in"},
        ),
    )
    values = [{"payload": "y"}, "jana", None, None, {"code": "SALE"}, "1234", {"catalog": "sku-1"}]
    assert visible_parts(compiled, use(buttons=values)) == {
        "buttons": [
            {"type": "QUICK_REPLY", "text": "Yes", "press": 0},
            {"type": "URL", "text": "Open", "url": "https://a.example/jana"},
            {"type": "URL", "text": "Shop", "url": "https://a.example"},
            {"type": "PHONE_NUMBER", "text": "Call", "phone_number": "420900000001"},
            {"type": "COPY_CODE", "text": "Copy", "code": "SALE"},
            {"type": "OTP", "text": "Copy", "code": "1234"},
            {"type": "CATALOG", "text": "Look", "value": "sku-1"},
            {"type": "FLOW", "text": "Fill in"},
        ]
    }


def test_footer_cards_and_the_end_of_an_offer() -> None:
    """The cards of a carousel are products; an offer has its instant."""
    compiled = template(
        body("x"),
        {"type": "FOOTER", "text": "Bye"},
        {"type": "CAROUSEL", "cards": [{}]},
        {"type": "LIMITED_TIME_OFFER"},
    )
    product = {"product_retailer_id": "sku-1", "catalog_id": "7"}
    assert visible_parts(compiled, use(carousel=[{"product": product}], lto=[1_772_355_600_000])) == {
        "footer": "Bye",
        "cards": [{"header": {"kind": "product", **product}}],
        "offer": 1_772_355_600_000,
    }
