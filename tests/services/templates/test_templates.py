"""Templates: compiled records, and parameters that fit them or are refused with a reason (§2.2, §2.5)."""

from __future__ import annotations

from typing import Any

import pytest

from sendbox.services.templates.buttons import Problem
from sendbox.services.templates.templates import Template, TemplateUse, approved, check, compile_template, render
from tests.core.template_parts import body, buttons, header, problem, template, use

IMAGE = "https://cdn.example/a.jpg"
PRODUCT = {"product_retailer_id": "sku-1", "catalog_id": "7"}


NUMBERED = template(body("Code {{1}} for {{ 2 }}"))
NAMED = template(body("Hello {{first}}, order {{order}} of {{first}}"))
PLAIN = template(body("Hello"))


def test_s2_5_a_record_is_compiled() -> None:
    """Name, language, category, status and every component of §2.5 land in the template."""
    compiled = compile_template(
        {
            "name": "sale",
            "language": "cs",
            "category": "MARKETING",
            "status": "PENDING",
            "components": [
                header("IMAGE"),
                body("{{2}} {{1}} {{2}}"),
                {"type": "footer", "text": "Bye"},
                buttons({"type": "QUICK_REPLY", "text": "Yes"}),
                {"type": "LIMITED_TIME_OFFER", "limited_time_offer": {"text": "Now", "has_expiration": True}},
                {"type": "CAROUSEL", "cards": [{}, {}]},
            ],
        }
    )
    assert (compiled.name, compiled.language, compiled.category, compiled.status) == (
        "sale",
        "cs",
        "MARKETING",
        "PENDING",
    )
    assert (compiled.header, compiled.body, compiled.variables, compiled.named) == (
        "image",
        "{{2}} {{1}} {{2}}",
        ("1", "2"),
        False,
    )
    assert (compiled.footer, compiled.buttons[0].text, compiled.cards, compiled.timed) == ("Bye", "Yes", 2, True)


def test_s2_5_an_empty_record_takes_no_parameters() -> None:
    """A record without components compiles, and takes nothing."""
    compiled = compile_template({})
    assert check(compiled, use()) == []
    assert render(compiled, use()) == ""


@pytest.mark.parametrize(("status", "expected"), [("APPROVED", True), ("approved", True), ("PAUSED", False)])
def test_s2_2_only_an_approved_template_may_be_used(status: str, expected: bool) -> None:
    """A step needs a template whose status is APPROVED."""
    assert approved(template(status=status)) is expected


FITS = {
    "numbered": (NUMBERED, use(params=["1234", "Eva"])),
    "named": (NAMED, use(params=[{"first": "Eva"}, {"order": "7"}])),
    "nothing-for-nothing": (PLAIN, use()),
    "empty-for-nothing": (PLAIN, use(params=[], header=[], buttons=[], carousel=[], lto=[])),
    "header-text-string": (template(header("TEXT", "Hi {{1}}")), use(header=["Eva"])),
    "header-text-object": (template(header("TEXT", "Hi {{name}}")), use(header=[{"text": {"name": "Eva"}}])),
    "header-fixed-text": (template(header("TEXT", "Hi")), use()),
    "header-without-format": (template({"type": "HEADER", "text": "Hi {{1}}"}), use(header=["Eva"])),
    "header-of-another-format": (template(header("HOLOGRAM")), use()),
    "header-jpg": (template(header("IMAGE")), use(header=[IMAGE])),
    "header-jpeg": (template(header("IMAGE")), use(header=["http://cdn.example/a.jpeg"])),
    "header-png": (template(header("IMAGE")), use(header=["https://cdn.example/a.PNG"])),
    "header-mp4": (template(header("VIDEO")), use(header=["https://cdn.example/a.mp4"])),
    "header-3gp": (template(header("VIDEO")), use(header=["https://cdn.example/a.3gp"])),
    "header-pdf": (template(header("DOCUMENT")), use(header=["https://cdn.example/a.pdf"])),
    "header-text-like-a-file": (template(header("TEXT", "{{1}}")), use(header=["see a.jpg"])),
    "header-image": (template(header("IMAGE")), use(header=[{"image": {"link": "https://cdn.example/7"}}])),
    "header-image-query": (template(header("IMAGE")), use(header=[{"image": {"link": IMAGE + "?v=1#x"}}])),
    "header-video": (template(header("VIDEO")), use(header=[{"video": {"link": "https://cdn.example/a.mp4"}}])),
    "header-document": (
        template(header("DOCUMENT")),
        use(header=[{"document": {"link": "https://cdn.example/a.pdf", "filename": "a.pdf", "more": 1}}]),
    ),
    "header-location": (
        template(header("LOCATION")),
        use(header=[{"location": {"latitude": "50.1", "longitude": "14.4", "name": "A", "address": "B"}}]),
    ),
    "header-product": (template(header("PRODUCT")), use(header=[{"product": PRODUCT}])),
    "carousel": (
        template({"type": "CAROUSEL", "cards": [{}, {}]}),
        use(carousel=[{"product": PRODUCT}, {"product": PRODUCT}]),
    ),
    "lto-string": (template({"type": "LIMITED_TIME_OFFER"}), use(lto=["1772355600000"])),
    "lto-number": (template({"type": "LIMITED_TIME_OFFER"}), use(lto=[1772355600000])),
    "lto-whole-float": (template({"type": "LIMITED_TIME_OFFER"}), use(lto=[1772355600000.0])),
    "lto-without-expiry": (
        template({"type": "LIMITED_TIME_OFFER", "limited_time_offer": {"has_expiration": False}}),
        use(),
    ),
}


@pytest.mark.parametrize(("compiled", "parameters"), FITS.values(), ids=FITS.keys())
def test_s2_2_parameters_that_fit(compiled: Template, parameters: TemplateUse) -> None:
    """Each legal form of §2.2 fits a template that has its part."""
    assert check(compiled, parameters) == []


MISFITS: dict[str, tuple[Template, TemplateUse, list[Problem]]] = {
    "params-missing": (
        NUMBERED,
        use(params=["1"]),
        problem("params", "count", "1 value does not fit template 't' (en), which has 2 variables: {{1}}, {{2}}"),
    ),
    "params-absent": (
        template(body("{{1}}")),
        use(),
        problem("params", "count", "0 values do not fit template 't' (en), which has 1 variable: {{1}}"),
    ),
    "params-surplus": (
        PLAIN,
        use(params=["1"]),
        problem("params", "count", "1 value does not fit template 't' (en), which has no variables"),
    ),
    "params-number": (
        NUMBERED,
        use(params=["1", 2]),
        problem("params[1]", "type", "2 is not a string, as numbered variable {{2}} takes"),
    ),
    "params-string-for-named": (
        NAMED,
        use(params=["Eva", {"order": "7"}]),
        problem("params[0]", "named", '"Eva" is not an object with the one key "first"'),
    ),
    "params-order": (
        template(body("{{a}} {{b}}")),
        use(params=[{"a": "1"}, {"a": "2"}]),
        problem("params[1]", "order", '"a" is not the variable at this position, which is "b"'),
    ),
    "header-none": (
        PLAIN,
        use(header=["x"]),
        problem("params_header", "count", "1 value does not fit template 't' (en), whose header takes none"),
    ),
    "header-missing": (
        template(header("TEXT", "{{1}}")),
        use(),
        problem("params_header", "count", "0 values do not fit template 't' (en), whose text header takes exactly one"),
    ),
    "header-string-kind": (
        template(header("VIDEO")),
        use(header=[IMAGE]),
        problem(
            "params_header[0]",
            "kind",
            f"\"{IMAGE}\" is a value of kind image, but the header of template 't' (en) is of kind video",
        ),
    ),
    "header-object-kind": (
        template(header("TEXT", "{{1}}")),
        use(header=[{"image": {"link": IMAGE}}]),
        problem(
            "params_header[0]",
            "kind",
            "\"image\" is a value of kind image, but the header of template 't' (en) is of kind text",
        ),
    ),
    "header-text-name": (
        template(header("TEXT", "{{name}}")),
        use(header=[{"text": {"nam": "Eva"}}]),
        problem("params_header[0].text", "named", '{"nam":"Eva"} is not an object with the one key "name"'),
    ),
    "header-link-address": (
        template(header("IMAGE")),
        use(header=[{"image": {"link": "a.jpg"}}]),
        problem("params_header[0].image.link", "url", '"a.jpg" is not an http or https address'),
    ),
    "header-link-extension": (
        template(header("VIDEO")),
        use(header=[{"video": {"link": IMAGE + "?x"}}]),
        problem(
            "params_header[0].video.link",
            "kind",
            '"https://cdn.example/a.jpg?x" has an extension of kind image, not of kind video',
        ),
    ),
    "carousel-none": (
        PLAIN,
        use(carousel=[{"product": PRODUCT}]),
        problem("params_carousel", "count", "1 value does not fit template 't' (en), which has 0 carousel cards"),
    ),
    "carousel-count": (
        template({"type": "CAROUSEL", "cards": [{}, {}]}),
        use(carousel=[{"product": PRODUCT}]),
        problem("params_carousel", "count", "1 value does not fit template 't' (en), which has 2 carousel cards"),
    ),
    "lto-none": (
        PLAIN,
        use(lto=["1"]),
        problem("params_lto", "count", "1 value does not fit template 't' (en), whose limited-time offer takes none"),
    ),
    "lto-missing": (
        template({"type": "LIMITED_TIME_OFFER"}),
        use(),
        problem(
            "params_lto", "count", "0 values do not fit template 't' (en), whose limited-time offer takes one timestamp"
        ),
    ),
} | {
    f"lto-{name}": (
        template({"type": "LIMITED_TIME_OFFER"}),
        use(lto=[value]),
        problem("params_lto[0]", "timestamp", f"{text} is not a timestamp in milliseconds"),
    )
    for name, value, text in [
        ("negative", -1, "-1"),
        ("fraction", 1.5, "1.5"),
    ]
}


@pytest.mark.parametrize(("compiled", "parameters", "expected"), MISFITS.values(), ids=MISFITS.keys())
def test_s2_2_parameters_that_do_not_fit(compiled: Template, parameters: TemplateUse, expected: list[Problem]) -> None:
    """A missing, surplus or ill-formed value is named with path, rule and reason."""
    assert check(compiled, parameters) == expected


@pytest.mark.parametrize(
    ("depth", "text"),
    [(300, "{…}"), (20, '{"flow":{"x":' + 15 * '{"x":' + "…")],
    ids=["too deep to be written", "long"],
)
def test_s2_2_a_value_that_is_not_shown_whole_is_still_a_misfit(depth: int, text: str) -> None:
    """A message about a value that cannot be written shows its kind, a long one is cut."""
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"x": value}
    parameters = use(buttons=[{"flow": value}])
    (mistake,) = check(template(buttons({"type": "QUICK_REPLY", "text": "Yes"})), parameters)
    assert mistake.message.startswith(f"{text[:79]}")


def test_s2_2_every_misfit_is_told() -> None:
    """Problems of all parts come in the order of the fields."""
    parameters = use(params=[], header=["x"], buttons=["x"], carousel=[{"product": PRODUCT}], lto=[1])
    assert [mistake.path for mistake in check(NUMBERED, parameters)] == [
        "params",
        "params_header",
        "params_buttons[0]",
        "params_carousel",
        "params_lto",
    ]


@pytest.mark.parametrize(
    ("compiled", "params", "expected"),
    [
        pytest.param(NUMBERED, ["1234", "Eva"], "Code 1234 for Eva", id="numbered"),
        pytest.param(template(body("{{2}} {{1}} {{2}}")), ["a", "b"], "b a b", id="by-number"),
        pytest.param(NAMED, [{"first": "Eva"}, {"order": "7"}], "Hello Eva, order 7 of Eva", id="named"),
        pytest.param(NUMBERED, ["{{2}}", "x"], "Code {{2}} for x", id="values-are-not-templates"),
        pytest.param(NUMBERED, ["1234"], "Code 1234 for {{ 2 }}", id="missing-stays"),
        pytest.param(NUMBERED, ["1234", 7], "Code 1234 for {{ 2 }}", id="misfit-stays"),
        pytest.param(PLAIN, None, "Hello", id="without-variables"),
    ],
)
def test_s2_2_variables_are_filled(compiled: Template, params: list[Any] | None, expected: str) -> None:
    """A phone shows the body with the values of its variables; filling never fails."""
    assert render(compiled, use(params=params)) == expected
