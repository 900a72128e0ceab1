"""Values given to a template's buttons: by position, in their own form, or refused with a reason (§2.2)."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.services.templates.templates import check
from tests.core.template_parts import buttons, problem, template, use

SECTION = {"title": "Shoes", "product_items": [{"product_retailer_id": "sku-1"}]}
CALL = {"type": "PHONE_NUMBER", "text": "Call", "phone_number": "420777000101"}
FIXED = {"type": "URL", "text": "Site", "url": "https://a.example/"}
DYNAMIC = {"type": "URL", "text": "Order", "url": "https://a.example/{{1}}"}
REPLY = {"type": "QUICK_REPLY", "text": "Yes"}
COPY = {"type": "COPY_CODE", "text": "Copy"}
OTP = {"type": "OTP", "text": "Copy"}
CATALOG = {"type": "CATALOG", "text": "View"}
VOICE = {"type": "VOICE_CALL", "text": "Call us"}
MPM = {"type": "MPM", "text": "Items"}
FLOW = {"type": "FLOW", "text": "Form"}

BUTTONS_FIT: dict[str, tuple[list[dict[str, Any]], list[Any] | None]] = {
    "url-string": ([DYNAMIC], ["7"]),
    "url-object": ([DYNAMIC], [{"url": "7"}]),
    "static-null": ([FIXED, CALL, DYNAMIC], [None, None, "7"]),
    "static-omitted": ([DYNAMIC, FIXED, CALL], ["7"]),
    "static-only": ([FIXED, CALL], None),
    "static-all-null": ([FIXED, CALL], [None, None]),
    "payload": ([REPLY], [{"payload": "yes-7"}]),
    "reply-without-payload": ([REPLY, DYNAMIC], [None, "7"]),
    "code": ([COPY], [{"code": "SAVE10"}]),
    "otp": ([OTP], ["123456"]),
    "catalog": ([CATALOG], [{"catalog": "sku-1"}]),
    "voice-call": ([VOICE], [{"voice_call": {"ttl_minutes": 60}}]),
    "mpm": ([MPM], [{"mpm": {"sku-1": [SECTION]}}]),
    "flow-null": ([FLOW], [{"flow": None}]),
    "flow-data": ([FLOW], [{"flow": {"name": "Eva"}}]),
}


@pytest.mark.parametrize(("records", "values"), BUTTONS_FIT.values(), ids=BUTTONS_FIT.keys())
def test_s2_2_button_parameters_by_position(records: list[dict[str, Any]], values: list[Any] | None) -> None:
    """Each form of a button's value fits at the position of a button of its type; static ones take null or nothing."""
    assert check(template(buttons(*records)), use(buttons=values)) == []


BUTTONS_MISFIT: dict[str, tuple[list[dict[str, Any]], list[Any] | None, str, str, str]] = {
    "static-value": (
        [FIXED],
        ["7"],
        "params_buttons[0]",
        "static",
        '"7" is given to a static URL button "Site", which takes null',
    ),
    "surplus": (
        [FIXED],
        [None, None],
        "params_buttons[1]",
        "count",
        "2 values do not fit template 't' (en), which has 1 button",
    ),
    "dynamic-null": (
        [DYNAMIC],
        [None],
        "params_buttons[0]",
        "required",
        'null is given to a URL button "Order", which takes a string or {"url": …}',
    ),
    "dynamic-absent": (
        [FIXED, DYNAMIC],
        None,
        "params_buttons[1]",
        "required",
        'no value is given to a URL button "Order", which takes a string or {"url": …}',
    ),
    "flow-absent": (
        [FLOW],
        [],
        "params_buttons[0]",
        "required",
        'no value is given to a FLOW button "Form", which takes {"flow": …}',
    ),
    "flow-plain-null": (
        [FLOW],
        [None],
        "params_buttons[0]",
        "required",
        'null is given to a FLOW button "Form", which takes {"flow": …}',
    ),
    "string-for-reply": (
        [REPLY],
        ["yes"],
        "params_buttons[0]",
        "kind",
        '"yes" is given to a QUICK_REPLY button "Yes", which takes {"payload": …}',
    ),
    "wrong-order": (
        [REPLY],
        [{"url": "7"}],
        "params_buttons[0]",
        "kind",
        '{"url":"7"} is given to a QUICK_REPLY button "Yes", which takes {"payload": …}',
    ),
    "mpm-sections": (
        [MPM],
        [{"mpm": {"sku-1": []}}],
        "params_buttons[0].mpm['sku-1']",
        "shape",
        "[] is not an array with at least one section",
    ),
    "mpm-items": (
        [MPM],
        [{"mpm": {"sku-1": [{"title": "A", "product_items": []}]}}],
        "params_buttons[0].mpm['sku-1'][0].product_items",
        "shape",
        "[] is not an array with at least one product",
    ),
}


@pytest.mark.parametrize(
    ("records", "values", "path", "rule", "message"), BUTTONS_MISFIT.values(), ids=BUTTONS_MISFIT.keys()
)
def test_s2_2_button_parameters_that_do_not_fit(
    records: list[dict[str, Any]], values: list[Any] | None, path: str, rule: str, message: str
) -> None:
    """Dynamic buttons must be given, in order and in their own form; static ones take nothing."""
    assert check(template(buttons(*records)), use(buttons=values)) == problem(path, rule, message)
